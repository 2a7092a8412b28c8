import type { ExplainedTerm, ItemExplanation } from '../../../../schemas/api/rules.ts';
import type { DeliveryStatus, MatchPage, MonitorMatch } from '../../../../schemas/messages/monitor-match.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import { positionsOfTerms } from '../../../../shared/matching/explain.ts';
import type { MatchMark } from '../../../../shared/matches/match-marks.ts';
import { matchId, parseMatchId } from '../../../../shared/rules/identifiers.ts';
import { ApiError } from '../../http/api-error.ts';
import { attempt, get, NO_PROBLEMS } from '../page.ts';
import type { PageRequest, PageRoute, ShownPage } from '../page.ts';
import { ago, field, icon, list, notice, postButton, table, time } from '../parts.ts';
import { monitorPage, readMonitor } from './monitor-frame.ts';

const DELIVERY: Readonly<Record<DeliveryStatus, string>> = {
  none: 'no webhook',
  pending: 'waiting for delivery',
  delivered: 'delivered',
  failed: 'delivery failed',
  skipped: 'not sent',
};

/** How an entry of the list is shown. */
export interface EntryState {
  mark: MatchMark | null;
  isUnread: boolean;
  /** The query of the list that it is in, to return to. */
  view: string;
  /** It was just marked as not relevant: only what may follow from that is left. */
  isHidden?: boolean;
  /** It was recorded a moment ago. That it waits says nothing, and would stay on the page. */
  isLive?: boolean;
}

export function matchEntry(request: PageRequest, match: MonitorMatch, state: EntryState): Html {
  if (state.isHidden === true) return hiddenEntry(request, match, state);
  const highlights = highlightsOf(match);
  const { id, kind, subreddit, author, title, body, delivery_status: status } = match;
  const page = `/monitors/${match.monitor_id}`;
  // A backfilled match is not sent unless that was asked for, whether there is a webhook or not.
  const isSilent = status === 'none' ? match.backfill !== true : status === 'pending' && state.isLive === true;
  const delivery = isSilent ? '' : status === 'none' ? 'not sent' : DELIVERY[status];
  const isSettled = status === 'failed' || status === 'delivered' || status === 'skipped';
  const resend = { action: `${page}/redeliver`, label: [icon('arrow-path'), ' Send again'], fields: { match_ids: id } };
  return html`<li id="${id}" tabindex="-1" class="${state.isUnread && 'unread'}">
    <p class="note meta">
      ${state.isUnread && html`<span class="unread-note"><span class="dot"></span><span class="hidden">Unread.</span></span>`}
      <strong><bdi>r/${subreddit}</bdi></strong> <bdi>u/${author}</bdi> ${ago(match.created_at, request.now)}
      <span>${kind === 'comment' ? 'comment' : 'post'}</span>
      <span class="${status === 'failed' && 'bad'}"
        >${
          status === 'none'
            ? delivery
            : html`<a class="quiet-link" href="${request.path(`${page}/deliveries?match=${id}`)}">${delivery}</a>`
        }</span
      >
      ${match.suppressed && html`<span>${suppressedInWords(match)}</span>`}
      ${match.backfill && html`<span>earlier match</span>`}
    </p>
    <h3>${kind === 'comment' && 'On: '}${forumLink(match, markedExcerpt(title, highlights.title))}</h3>
    ${body !== '' && html`<p class="excerpt">${markedExcerpt(body, highlights.body)}</p>`}
    <p class="terms">
      <span class="hidden">Matched: </span>${match.matched_terms.map((term) => html`<code>${term}</code>`)}
    </p>
    <div class="actions">
      ${markForm(request, match, state.view, [
        { mark: 'bookmarked', key: 'b', name: [icon('bookmark'), ' Bookmark'], isOn: state.mark === 'bookmarked' },
        { mark: 'irrelevant', key: 'x', name: [icon('eye-slash'), ' Not relevant'], isOn: state.mark === 'irrelevant' },
      ])}
      <details class="menu">
        <summary>${icon('speaker-x-mark')} Mute</summary>
        <div class="actions">${muteButtons(request, match)}</div>
      </details>
      <a class="button quiet" href="${request.path(`${page}/matches/${id}`)}"
        >${icon('question-mark-circle')} Why<span class="hidden"> did this match?</span></a
      >
      ${isSettled && postButton(request, resend)}
    </div>
  </li>`;
}

/** In place of an entry that was marked as not relevant. */
function hiddenEntry(request: PageRequest, match: MonitorMatch, { view }: EntryState): Html {
  const { id, monitor_id: monitorId, title, subreddit } = match;
  return html`<li id="${id}" tabindex="-1" class="gone">
    <p class="note meta">
      Not relevant: “<bdi>${title === '' ? `r/${subreddit}` : title.slice(0, LENGTH)}</bdi>”. No more like this? Mute or
      exclude:
    </p>
    <div class="actions">
      ${markForm(request, match, view, [
        { mark: 'irrelevant', key: 'x', name: [icon('arrow-uturn-left'), ' Undo'], isOn: true, isOneWay: true },
      ])}
      ${muteButtons(request, match)}
      <a class="button quiet" href="${request.path(`/monitors/${monitorId}/edit#exclude`)}"
        >${icon('no-symbol')} Exclude a term</a
      >
    </div>
  </li>`;
}

function muteButtons(request: PageRequest, match: MonitorMatch): HtmlValue {
  const { subreddit, author, post_id: postId } = match;
  const mute = (kind: string, value: string, what: string) =>
    postButton(request, {
      action: `/monitors/${match.monitor_id}/mutes`,
      label: `Mute ${what}`,
      fields: { kind, value, from: 'matches' },
    });
  return [
    mute('subreddit', subreddit, `r/${subreddit}`),
    author !== '[deleted]' && mute('author', author, `u/${author}`),
    mute('thread', postId, 'this thread'),
  ];
}

interface MarkButton {
  mark: MatchMark;
  /** The key that presses it where scripts run. */
  key: string;
  name: HtmlValue;
  /** Pressed, it takes the mark away. */
  isOn: boolean;
  /** Its name says what it does, and not what is the case. */
  isOneWay?: boolean;
}

function markForm(request: PageRequest, match: MonitorMatch, view: string, buttons: readonly MarkButton[]): Html {
  return html`<form method="post" action="${request.path(`/monitors/${match.monitor_id}/marks`)}" class="inline marks">
    ${request.csrfField}
    <input type="hidden" name="match" value="${match.id}" />
    <input type="hidden" name="view" value="${view}" />
    ${buttons.map(
      ({ mark, key, name, isOn, isOneWay }) =>
        html`<button
          class="quiet"
          name="mark"
          value="${isOn ? 'none' : mark}"
          data-key="${key}"
          ${isOneWay !== true && html`aria-pressed="${isOn ? 'true' : 'false'}"`}
        >
          ${name}
        </button>`,
    )}
  </form>`;
}

export function suppressedInWords({ suppressed_reason: reason }: MonitorMatch): string {
  return reason === 'thread_once' ? 'its thread already had a match that day' : 'daily cap reached';
}

/** A link to the forum. Addresses of other kinds are not linked. */
export function forumLink({ permalink }: Pick<MonitorMatch, 'permalink'>, text: HtmlValue): HtmlValue {
  if (!/^https?:\/\//i.test(permalink)) return text;
  return html`<a href="${permalink}" rel="noopener noreferrer nofollow" data-key="o">${text}</a>`;
}

/** UTF-16 code units [start, end) of a text. */
export interface TextRange {
  start: number;
  end: number;
}

/** Where the terms of a match occur first in each text, in no order. */
export interface Highlights {
  title: TextRange[];
  body: TextRange[];
}

const MAX_TERMS = 50;

/** Includes terms that only an earlier version had. The title of a comment's post gets those that the comment lacks. */
export function highlightsOf(match: MonitorMatch): Highlights {
  const { kind, title, body: text, subreddit, matched_terms: terms } = match;
  const item = { kind, title, text, subreddit, nsfw: false };
  const highlights: Highlights = { title: [], body: [] };
  for (const positions of positionsOfTerms(terms.slice(0, MAX_TERMS), item)) {
    const [body, others] = [true, false].map((isBody) =>
      positions.filter(({ field }) => (field === 'text') === isBody),
    );
    highlights.body.push(...body!);
    if (kind === 'post' || body!.length === 0) highlights.title.push(...others!);
  }
  return highlights;
}

/** How many code units of a text are shown before its first mark, and how many in all. */
const BEFORE = 80;
const LENGTH = 300;

/** The text, escaped, with the ranges marked. Ranges may overlap and be in any order. */
export function markedText(text: string, ranges: readonly TextRange[]): Html {
  let position = 0;
  const parts: Html[] = [];
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    const from = Math.max(start, position);
    if (end <= from) continue;
    parts.push(html`${text.slice(position, from)}<mark>${text.slice(from, end)}</mark>`);
    position = end;
  }
  return html`${parts}${text.slice(position)}`;
}

export function markedExcerpt(text: string, ranges: readonly TextRange[]): Html {
  const first = Math.min(text.length, ...ranges.map(({ start }) => start));
  const start = first === text.length || first <= BEFORE ? 0 : wholeCharacter(text, first - BEFORE);
  const end = text.length - start <= LENGTH ? text.length : wholeCharacter(text, start + LENGTH);
  const within = ranges.map((range) => ({ start: range.start - start, end: Math.min(range.end, end) - start }));
  return html`${start > 0 && '… '}${markedText(text.slice(start, end), within)}${end < text.length && ' …'}`;
}

/** The position, or the one before it where it would cut a character of two code units. */
function wholeCharacter(text: string, position: number): number {
  const isInside = /[\uDC00-\uDFFF]/.test(text.charAt(position));
  return isInside ? position - 1 : position;
}

/** Why an item matched or not: today's rule, the content as it was first seen, and what happened to it. */
export const explanationPages: PageRoute[] = [
  get('/monitors/:id/matches/:match', showMatch),
  get('/monitors/:id/explain', showItem),
];

async function showMatch(request: PageRequest): Promise<ShownPage> {
  const match = await readMatch(request);
  const [monitor, explained] = await Promise.all([readMonitor(request), explain(request, match.thing_id)]);
  return monitorPage(request, '', {
    monitor,
    title: 'Why did this match?',
    content: html`<h2>Why did this match?</h2>
      ${summaryOfMatch(match, explained)} ${content(match, highlightsOf(match))} ${explanation(explained)}`,
  });
}

async function showItem(request: PageRequest): Promise<ShownPage> {
  const thing = request.query.text('thing');
  const monitor = await readMonitor(request);
  const { value: explained, problems } =
    thing === '' ? { problems: NO_PROBLEMS } : await attempt(explain(request, thing));
  return monitorPage(request, '/explain', {
    monitor,
    title: 'Why did an item match, or not?',
    problems,
    content: html`<p>Check why a post or comment matched, or why it did not.</p>
      <form class="narrow" action="${request.path(`/monitors/${request.id}/explain`)}">
        ${field({
          name: 'thing',
          label: 'Post or comment',
          value: thing,
          hint: 'Its URL on the forum, or its id: t3_… or t1_…',
          problem: problems.size === 0 ? undefined : [...problems.values()].join('; '),
        })}
        <div class="actions"><button>Explain</button></div>
      </form>
      ${explained && itemExplanation(explained)}`,
  });
}

async function explain(request: PageRequest, thing: string): Promise<ItemExplanation> {
  return (await request.read('/v1/monitors/:id/explain', { query: { thing } })) as ItemExplanation;
}

function itemExplanation(explained: ItemExplanation): Html {
  const { matched, item } = explained;
  const summary =
    matched === null
      ? 'Nothing is known about it.'
      : matched
        ? 'The current rule matches it.'
        : 'The current rule does not match it.';
  return html`${notice('', summary)} ${explanation(explained)}
  ${item !== null && content(item, { title: [], body: [] })}`;
}

/** The match itself: the first one after its predecessor. @throws ApiError not_found */
async function readMatch(request: PageRequest): Promise<MonitorMatch> {
  const { id, params } = request;
  const named = parseMatchId(params.match ?? '');
  if (named?.monitorId !== id || named.seq === 0) throw noSuchMatch();
  const after = named.seq > 1 && { after: matchId(id, named.seq - 1) };
  const page = await request.read('/v1/monitors/:id/matches', { query: { order: 'oldest', limit: '1', ...after } });
  const match = (page as MatchPage).items.find((item) => item.id === params.match);
  if (match === undefined) throw noSuchMatch();
  return match;
}

export const noSuchMatch = (): ApiError => new ApiError('not_found', 'No such match, or it is older than 30 days.');

function summaryOfMatch(match: MonitorMatch, { matched, filters }: ItemExplanation): Html {
  const isMuted = filters.some(({ filter, passed }) => filter === 'muted' && !passed);
  return html`<p>
      Recorded ${time(match.created_at)} because of <strong>${match.matched_terms.join(', ')}</strong>.
      ${match.suppressed && html`It was stored but not sent: ${suppressedInWords(match)}.`}
    </p>
    ${isMuted && notice('', 'It is muted now: nothing more from this source is recorded.')}
    ${matched === false && !isMuted && notice('', 'The current rule would not match it: the rule has changed since.')}`;
}

function explanation(explained: ItemExplanation): HtmlValue {
  return [
    explained.terms.length > 0 && explainedTerms(explained),
    explained.filters.length > 0 && filters(explained),
    history(explained),
  ];
}

const KINDS: Readonly<Record<NonNullable<ExplainedTerm['rule']>, string>> = {
  word: 'whole word',
  prefix: 'beginning of a word',
  phrase: 'words in this order',
  punctuation: 'exactly, with its punctuation',
  characters: 'characters',
  symbols: 'symbols',
};
const FIELDS: Readonly<Record<ExplainedTerm['positions'][number]['field'], string>> = {
  title: 'title',
  body: 'text',
  post_title: "title of the comment's post",
};

function explainedTerms({ terms, require = [], excludes }: ItemExplanation): Html {
  const rows = [
    ...terms.map((term) => termRow('any of these', term)),
    ...require.flatMap((group, index) => group.terms.map((term) => termRow(`and group ${index + 1}`, term))),
    ...excludes.map((term) => termRow('and none of these', term)),
  ];
  return html`<h2>Terms</h2>
    ${table('Terms of the current rule', ['Term', 'Needed', 'Matched as', 'Found in'], rows)}`;
}

function termRow(needed: string, { term, rule, same_as: sameAs, positions, nearest }: ExplainedTerm): HtmlValue[] {
  const found = positions.map((at) => `${FIELDS[at.field]}, character ${at.start + 1}`).join('; ');
  return [
    term,
    needed,
    `${rule === null ? 'nothing to match' : KINDS[rule]}${sameAs === undefined ? '' : `, the same as “${sameAs}”`}`,
    html`${found === '' ? 'not found' : html`<strong>${found}</strong>`}${nearest !== null && html`. ${nearest.message}`}`,
  ];
}

type FilterName = ItemExplanation['filters'][number]['filter'];

const FILTERS: Readonly<Record<FilterName, readonly [passed: string, failed: string]>> = {
  kind: ['Its type is watched.', 'Its type is not watched.'],
  nsfw: ['It is not NSFW, or NSFW items are included.', 'It is NSFW, and NSFW items are not included.'],
  subreddit: ['Its community is watched.', 'Its community is not watched.'],
  subreddit_excluded: ['Its community is not excluded.', 'Its community is excluded.'],
  author: ['Its author is watched.', 'Its author is not watched.'],
  author_excluded: ['Its author is not excluded.', 'Its author is excluded.'],
  language: ['Its language is watched.', 'Its language is not watched, or could not be determined.'],
  muted: ['No mute applies to it.', 'It is muted.'],
};

function filters({ filters }: ItemExplanation): Html {
  return html`<h2>Conditions</h2>
    ${list(filters.map(({ filter, passed }) => (passed ? FILTERS[filter][0] : html`<strong>${FILTERS[filter][1]}</strong>`)))}`;
}

function history({ history }: ItemExplanation): Html {
  return html`<h2>What happened to it</h2>
    <ol>
      ${history.map(({ at, message }) => html`<li>${at !== null && html`${time(at, 'second')}: `}${message}</li>`)}
    </ol>`;
}

function content(
  shown: Pick<MonitorMatch, 'kind' | 'title' | 'body' | 'permalink' | 'subreddit' | 'author'>,
  { title, body }: ReturnType<typeof highlightsOf>,
): Html {
  return html`<h2>What was seen</h2>
    <p>
      ${shown.kind === 'comment' && 'Comment on: '}${forumLink(shown, markedText(shown.title, title))}
      <br /><span class="note">r/${shown.subreddit} · u/${shown.author}</span>
    </p>
    <div class="text">${markedText(shown.body, body)}</div>`;
}
