import type { MonitorMute } from '../../../../../schemas/api/monitor-mutes.ts';
import type { Monitor } from '../../../../../schemas/api/monitor.ts';
import type { MatchPage, MonitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { matchId, parseMatchId } from '../../../../../shared/domain/identifiers.ts';
import { explain } from '../../../../../shared/matching/explain.ts';
import type { Explanation, TermExplanation } from '../../../../../shared/matching/explain.ts';
import type { MatchPosition } from '../../../../../shared/matching/rule.ts';
import { ApiError } from '../../../http/api-error.ts';
import { html } from '../../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../../shared/html/html.ts';
import type { DashboardDeps } from '../../dashboard-deps.ts';
import type { PageRoute, ShownPage, Visit } from '../../page-route.ts';
import { time } from '../../parts/time.ts';
import { markedText } from './marked-text.ts';
import { forumLink, suppressedInWords } from './match-entry.ts';
import { itemOfMatch, matchHighlighter } from './match-highlights.ts';
import { ruleOfMonitor } from '../monitor-rule.ts';

type Deps = Pick<DashboardDeps, 'callApi'>;

/** Why a match matched: each part of today's rule beside the content as it was first matched. */
export function explanationPages(deps: Deps): PageRoute[] {
  return [{ method: 'get', path: '/monitors/:id/matches/:match', handle: (visit) => show(deps, visit) }];
}

async function show({ callApi }: Deps, visit: Visit): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const [{ body }, mutes, match] = await Promise.all([
    callApi(visit, 'get', '/v1/monitors/:id', { id }),
    callApi(visit, 'get', '/v1/monitors/:id/mutes', { id }),
    readMatch({ callApi }, visit),
  ]);
  const rule = ruleOfMonitor((body as { monitor: Monitor }).monitor);
  // What is not kept of an item is left out of the rule.
  const { languages: _languages, ...kept } = { ...rule, nsfw: true };
  const explanation = explain(kept, itemOfMatch(match), (mutes.body as { items: MonitorMute[] }).items);
  return {
    title: 'Why did this match?',
    content: html`<p><a href="${visit.path(`/monitors/${id}`)}">Back to the matches</a></p>
      ${verdict(match, explanation)} ${terms(explanation)} ${filters(match, explanation)}
      ${content(match, matchHighlighter(rule)(match))}`,
  };
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

function verdict(match: MonitorMatch, { matches, mutedBy }: Explanation): Html {
  return html`<p>
      Recorded ${time(match.created_at)} because of <strong>${match.matched_terms.join(', ')}</strong>.
      ${match.suppressed && html`It was kept but not sent: ${suppressedInWords(match)}.`}
    </p>
    ${mutedBy !== undefined && html`<p class="notice">Its ${mutedBy.kind} is muted now, so nothing more of it is kept.</p>`}
    ${
      !matches &&
      mutedBy === undefined &&
      html`<p class="notice">Today’s rule would not match it: the rule was changed since.</p>`
    }`;
}

const KINDS: Readonly<Record<NonNullable<TermExplanation['kind']>, string>> = {
  word: 'whole word',
  prefix: 'beginning of a word',
  phrase: 'words in this order',
  punctuation: 'exactly, with its punctuation',
  characters: 'characters',
  symbols: 'symbols',
};
const FIELDS: Readonly<Record<MatchPosition['field'], string>> = {
  title: 'title',
  text: 'text',
  post_title: "title of the comment's post",
};

function terms({ keywords, terms: withConditions, require, exclude }: Explanation): Html {
  const rows = [
    ...[...keywords, ...withConditions].map((term) => termRow('any of these', term)),
    ...require.flatMap((group, number) => group.terms.map((term) => termRow(`and group ${number + 1}`, term))),
    ...exclude.map((term) => termRow('and none of these', term)),
  ];
  return html`<h2>Terms</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Terms of the rule">
      <table>
        <caption class="hidden">
          Terms of today’s rule
        </caption>
        <thead>
          <tr>
            <th scope="col">Term</th>
            <th scope="col">Needed</th>
            <th scope="col">Searched as</th>
            <th scope="col">Found in</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function termRow(needed: string, { term, kind, sameAs, positions }: TermExplanation): Html {
  const found = positions.map(({ field, start }) => `${FIELDS[field]}, character ${start + 1}`);
  return html`<tr>
    <th scope="row">${term}</th>
    <td>${needed}</td>
    <td>
      ${kind === undefined ? 'nothing to search for' : KINDS[kind]}${sameAs !== undefined && `, the same as “${sameAs}”`}
    </td>
    <td>${found.length > 0 ? html`<strong>${found.join('; ')}</strong>` : 'not in it'}</td>
  </tr>`;
}

const BLOCKED: Readonly<Record<string, string>> = {
  kind: 'The rule does not watch this kind any more.',
  subreddit: 'Its community is not among the watched ones.',
  subreddit_excluded: 'Its community is left out.',
  author: 'Its author is not among the watched ones.',
  author_excluded: 'Its author is left out.',
  muted: 'It is muted.',
};

function filters(match: MonitorMatch, { blockedBy }: Explanation): Html {
  return html`<h2>Conditions</h2>
    <ul>
      <li>${match.kind === 'post' ? 'A post' : 'A comment'} in r/${match.subreddit} by u/${match.author}.</li>
      <li>
        ${blockedBy === undefined ? 'Kind, community and author pass the rule.' : (BLOCKED[blockedBy] ?? blockedBy)}
      </li>
      <li>NSFW and language were decided when it was recorded; they are not kept with a match.</li>
    </ul>`;
}

function content(match: MonitorMatch, { title, body }: { title: TextRanges; body: TextRanges }): HtmlValue {
  return html`<h2>What was matched</h2>
    <p>${match.kind === 'comment' && 'Comment on: '}${forumLink(match, markedText(match.title, title))}</p>
    <div class="text">${markedText(match.body, body)}</div>`;
}

type TextRanges = Parameters<typeof markedText>[1];
