import type { ItemExplanation } from '../../../../../schemas/api/monitors/explain.ts';
import type { Monitor } from '../../../../../schemas/api/monitor.ts';
import type { MatchPage, MonitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { matchId, parseMatchId } from '../../../../../shared/domain/identifiers.ts';
import { ApiError } from '../../../http/api-error.ts';
import { html } from '../../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../../shared/html/html.ts';
import { problemsOf } from '../../call-api.ts';
import type { DashboardDeps } from '../../dashboard-deps.ts';
import type { PageRoute, ShownPage, Visit } from '../../page-route.ts';
import { field } from '../../parts/field.ts';
import { time } from '../../parts/time.ts';
import { monitorNavigation } from '../monitor-navigation.ts';
import { ruleOfMonitor } from '../monitor-rule.ts';
import { explainedTerms } from './explained-terms.ts';
import { markedText } from './marked-text.ts';
import { forumLink, suppressedInWords } from './match-entry.ts';
import { matchHighlighter } from './match-highlights.ts';

type Deps = Pick<DashboardDeps, 'callApi'>;

/** Why something matched or did not: today's rule beside the content as it was first seen, and what happened to it. */
export function explanationPages(deps: Deps): PageRoute[] {
  return [
    { method: 'get', path: '/monitors/:id/matches/:match', handle: (visit) => showMatch(deps, visit) },
    { method: 'get', path: '/monitors/:id/explain', handle: (visit) => showThing(deps, visit) },
  ];
}

async function showMatch({ callApi }: Deps, visit: Visit): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const match = await readMatch({ callApi }, visit);
  const [{ body }, { body: explained }] = await Promise.all([
    callApi(visit, 'get', '/v1/monitors/:id', { id }),
    callApi(visit, 'get', '/v1/monitors/:id/explain', { id, query: { thing: match.thing_id } }),
  ]);
  const highlights = matchHighlighter(ruleOfMonitor((body as { monitor: Monitor }).monitor))(match);
  return {
    title: 'Why did this match?',
    content: html`<p><a href="${visit.path(`/monitors/${id}`)}">Back to the matches</a></p>
      ${verdictOfMatch(match, explained as ItemExplanation)} ${explanation(explained as ItemExplanation)}
      ${content(match, { title: highlights.title, body: highlights.body })}`,
  };
}

/** Asks for a thing, and explains the one that was named. */
async function showThing({ callApi }: Deps, visit: Visit): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const thing = visit.query.text('thing').trim();
  await callApi(visit, 'get', '/v1/monitors/:id', { id });
  const asked = await ask({ callApi }, visit, thing);
  return {
    title: 'Why did it match, or not?',
    status: asked.problem === undefined ? 200 : 400,
    content: html`${monitorNavigation(visit, id, '/explain')}
      <form class="narrow" action="${visit.path(`/monitors/${id}/explain`)}">
        ${field({
          name: 'thing',
          label: 'Post or comment',
          value: thing,
          hint: 'Its address on the forum, or its id: t3_… or t1_…',
          problem: asked.problem,
        })}
        <div class="actions"><button>Explain</button></div>
      </form>
      ${asked.explained && thingExplained(asked.explained)}`,
  };
}

/** What the API says about the thing; nothing before one is named. */
async function ask(
  { callApi }: Deps,
  visit: Visit,
  thing: string,
): Promise<{ explained?: ItemExplanation; problem?: string | undefined }> {
  if (thing === '') return {};
  try {
    const { id = '' } = visit.params;
    const { body } = await callApi(visit, 'get', '/v1/monitors/:id/explain', { id, query: { thing } });
    return { explained: body as ItemExplanation };
  } catch (error) {
    return { problem: [...problemsOf(error).values()].join('; ') };
  }
}

function thingExplained(explained: ItemExplanation): Html {
  const { matched, item } = explained;
  const verdict =
    matched === null
      ? 'Nothing is known of it.'
      : matched
        ? 'Today’s rule matches it.'
        : 'Today’s rule does not match it.';
  return html`<p class="notice">${verdict}</p>
    ${explanation(explained)} ${item !== null && content(item, { title: [], body: [] })}`;
}

/** The match itself: the first one after its predecessor. @throws ApiError not_found */
async function readMatch({ callApi }: Deps, visit: Visit): Promise<MonitorMatch> {
  const { id = '', match: wanted = '' } = visit.params;
  const named = parseMatchId(wanted);
  if (named?.monitorId !== id || named.seq === 0) throw noSuchMatch();
  const after = named.seq > 1 && { after: matchId(id, named.seq - 1) };
  const query = { order: 'oldest', limit: '1', ...after };
  const { body } = await callApi(visit, 'get', '/v1/monitors/:id/matches', { id, query });
  const match = (body as MatchPage).items.find((item) => item.id === wanted);
  if (match === undefined) throw noSuchMatch();
  return match;
}

const noSuchMatch = (): ApiError => new ApiError('not_found', 'There is no such match, or it is older than 30 days.');

function verdictOfMatch(match: MonitorMatch, { matched, filters }: ItemExplanation): Html {
  const isMuted = filters.some(({ filter, passed }) => filter === 'muted' && !passed);
  return html`<p>
      Recorded ${time(match.created_at)} because of <strong>${match.matched_terms.join(', ')}</strong>.
      ${match.suppressed && html`It was kept but not sent: ${suppressedInWords(match)}.`}
    </p>
    ${isMuted && html`<p class="notice">It is muted now, so nothing more of its kind is kept.</p>`}
    ${
      matched === false &&
      !isMuted &&
      html`<p class="notice">Today’s rule would not match it: the rule was changed since.</p>`
    }`;
}

/** Terms, filters and history. */
function explanation(explained: ItemExplanation): HtmlValue {
  return [
    explained.terms.length > 0 && explainedTerms(explained),
    explained.filters.length > 0 && filters(explained),
    history(explained),
  ];
}

type FilterName = ItemExplanation['filters'][number]['filter'];

const FILTERS: Readonly<Record<FilterName, readonly [passed: string, failed: string]>> = {
  kind: ['Its kind is watched.', 'The rule does not watch this kind.'],
  nsfw: ['It is not NSFW, or the rule takes NSFW.', 'It is NSFW, and the rule does not take that.'],
  subreddit: ['Its community is watched.', 'Its community is not among the watched ones.'],
  subreddit_excluded: ['Its community is not left out.', 'Its community is left out.'],
  author: ['Its author is watched.', 'Its author is not among the watched ones.'],
  author_excluded: ['Its author is not left out.', 'Its author is left out.'],
  language: ['Its language is watched.', 'Its language is not among the watched ones, or it is not decided.'],
  muted: ['No mute applies to it.', 'It is muted.'],
};

function filters({ filters }: ItemExplanation): Html {
  return html`<h2>Conditions</h2>
    <ul>
      ${filters.map(({ filter, passed }) => html`<li>${passed ? FILTERS[filter][0] : html`<strong>${FILTERS[filter][1]}</strong>`}</li>`)}
    </ul>`;
}

function history({ history }: ItemExplanation): Html {
  return html`<h2>What happened to it</h2>
    <ol>
      ${history.map(({ at, message }) => html`<li>${at !== null && html`${time(at)}: `}${message}</li>`)}
    </ol>`;
}

type TextRanges = Parameters<typeof markedText>[1];

function content(
  shown: Pick<MonitorMatch, 'kind' | 'title' | 'body' | 'permalink' | 'subreddit' | 'author'>,
  { title, body }: { title: TextRanges; body: TextRanges },
): HtmlValue {
  return html`<h2>What was seen</h2>
    <p>
      ${shown.kind === 'comment' && 'Comment on: '}${forumLink(shown, markedText(shown.title, title))}
      <br /><span class="note">r/${shown.subreddit} · u/${shown.author}</span>
    </p>
    <div class="text">${markedText(shown.body, body)}</div>`;
}
