import type { ExplainedTerm, ItemExplanation } from '../../../../schemas/api/rules.ts';
import type { MatchPage, MonitorMatch } from '../../../../schemas/messages/monitor-match.ts';
import { matchId, parseMatchId } from '../../../../shared/domain/identifiers.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { ApiError } from '../../http/api-error.ts';
import { get, problemsOf } from '../page.ts';
import type { PageRoute, ShownPage, Visit } from '../page.ts';
import { field, list, notice, table, time } from '../parts.ts';
import { forumLink, highlightsOf, markedText, suppressedInWords } from './matches.ts';
import { monitorPage, readMonitor } from './monitor-frame.ts';

/** Why something matched or did not: today's rule beside the content as it was first seen, and what happened to it. */
export const explanationPages: PageRoute[] = [
  get('/monitors/:id/matches/:match', showMatch),
  get('/monitors/:id/explain', showThing),
];

async function showMatch(visit: Visit): Promise<ShownPage> {
  const match = await readMatch(visit);
  const explained = await explain(visit, match.thing_id);
  return {
    title: 'Why did this match?',
    content: html`<p><a href="${visit.path(`/monitors/${visit.id}`)}">Back to the matches</a></p>
      ${verdictOfMatch(match, explained)} ${explanation(explained)} ${content(match, highlightsOf(match))}`,
  };
}

/** Asks for a thing, and explains the one that was named. */
async function showThing(visit: Visit): Promise<ShownPage> {
  const thing = visit.query.text('thing');
  await readMonitor(visit);
  let explained: HtmlValue = '';
  let problem: string | undefined;
  try {
    if (thing !== '') explained = thingExplained(await explain(visit, thing));
  } catch (error) {
    problem = [...problemsOf(error).values()].join('; ');
  }
  return monitorPage(visit, '/explain', {
    title: 'Why did it match, or not?',
    problems: new Map(problem === undefined ? [] : [['thing', problem]]),
    content: html`<form class="narrow" action="${visit.path(`/monitors/${visit.id}/explain`)}">
        ${field({
          name: 'thing',
          label: 'Post or comment',
          value: thing,
          hint: 'Its address on the forum, or its id: t3_… or t1_…',
          problem,
        })}
        <div class="actions"><button>Explain</button></div>
      </form>
      ${explained}`,
  });
}

async function explain(visit: Visit, thing: string): Promise<ItemExplanation> {
  return (await visit.read('/v1/monitors/:id/explain', { query: { thing } })) as ItemExplanation;
}

function thingExplained(explained: ItemExplanation): Html {
  const { matched, item } = explained;
  const verdict =
    matched === null
      ? 'Nothing is known of it.'
      : matched
        ? 'Today’s rule matches it.'
        : 'Today’s rule does not match it.';
  return html`${notice('', verdict)} ${explanation(explained)}
  ${item !== null && content(item, { title: [], body: [] })}`;
}

/** The match itself: the first one after its predecessor. @throws ApiError not_found */
async function readMatch(visit: Visit): Promise<MonitorMatch> {
  const { id, params } = visit;
  const named = parseMatchId(params.match ?? '');
  if (named?.monitorId !== id || named.seq === 0) throw noSuchMatch();
  const after = named.seq > 1 && { after: matchId(id, named.seq - 1) };
  const page = await visit.read('/v1/monitors/:id/matches', { query: { order: 'oldest', limit: '1', ...after } });
  const match = (page as MatchPage).items.find((item) => item.id === params.match);
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
    ${isMuted && notice('', 'It is muted now, so nothing more of its kind is kept.')}
    ${matched === false && !isMuted && notice('', 'Today’s rule would not match it: the rule was changed since.')}`;
}

/** Terms, filters and history. */
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

/** The terms of a rule: where each was found, or what is nearest to it. */
function explainedTerms({ terms, require = [], excludes }: ItemExplanation): Html {
  const rows = [
    ...terms.map((term) => termRow('any of these', term)),
    ...require.flatMap((group, index) => group.terms.map((term) => termRow(`and group ${index + 1}`, term))),
    ...excludes.map((term) => termRow('and none of these', term)),
  ];
  return html`<h2>Terms</h2>
    ${table('Terms of today’s rule', ['Term', 'Needed', 'Searched as', 'Found in'], rows)}`;
}

function termRow(needed: string, { term, rule, same_as: sameAs, positions, nearest }: ExplainedTerm): HtmlValue[] {
  const found = positions.map((at) => `${FIELDS[at.field]}, character ${at.start + 1}`).join('; ');
  return [
    term,
    needed,
    `${rule === null ? 'nothing to search for' : KINDS[rule]}${sameAs === undefined ? '' : `, the same as “${sameAs}”`}`,
    html`${found === '' ? 'not in it' : html`<strong>${found}</strong>`}${nearest !== null && html`. ${nearest.message}`}`,
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
    ${list(filters.map(({ filter, passed }) => (passed ? FILTERS[filter][0] : html`<strong>${FILTERS[filter][1]}</strong>`)))}`;
}

function history({ history }: ItemExplanation): Html {
  return html`<h2>What happened to it</h2>
    <ol>
      ${history.map(({ at, message }) => html`<li>${at !== null && html`${time(at)}: `}${message}</li>`)}
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
