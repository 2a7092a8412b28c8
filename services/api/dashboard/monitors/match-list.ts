import { matchPageQuery } from '../../../../schemas/api/matches.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import {
  MAX_MARKS,
  MAX_UNREAD,
  markMatch,
  moveReadPosition,
  readMarkCounts,
  readOwnMatch,
  readShownMatches,
  unmarkMatch,
} from '../../../../shared/matches/match-marks.ts';
import type { MarkCounts, MarkedMatch, MatchMark } from '../../../../shared/matches/match-marks.ts';
import { nearestSeq, readSeqRange } from '../../../../shared/matches/match-pages.ts';
import { matchResource } from '../../../../shared/matches/rules/match-resource.ts';
import type { Pool } from '../../../../shared/postgres/pool.ts';
import { matchId, parseMatchId } from '../../../../shared/rules/identifiers.ts';
import { ApiError, parseRequest } from '../../http/api-error.ts';
import { matchPageRequest } from '../../matches/match-page.ts';
import { findLastSeq } from '../../monitors/find-monitor.ts';
import { post } from '../page.ts';
import type { FieldProblems, FormFields, PageRequest, PageResponse, PageRoute } from '../page.ts';
import { field, icon, number, otherProblems, typed } from '../parts.ts';
import { matchEntry, noSuchMatch } from './matches.ts';

const PER_PAGE = 25;
/** The most matches that are read for a page, whether or not they pass a filter. */
const MAX_READ = 2_000;
/** Entries that stay on the page while new ones arrive. */
const MAX_LIVE = 100;

const FILTERS = ['keyword', 'subreddit', 'since', 'until'] as const;
/** What links and forms keep of a list's address. */
const VIEW = ['show', ...FILTERS, 'before'];
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

type Shown = 'unread' | MatchMark;
const SHOWN: readonly (readonly [show: Shown | '', name: string, empty: string])[] = [
  ['', 'All', 'No matches yet. New ones appear here within seconds.'],
  ['unread', 'Unread', 'Nothing is unread: you have seen all matches.'],
  ['bookmarked', 'Bookmarked', 'No bookmarks. A bookmarked match is found here as long as it is kept, for 30 days.'],
  ['irrelevant', 'Not relevant', 'No match is marked as not relevant.'],
];

export interface MatchList {
  matches: MarkedMatch[];
  /** The next page begins before this match; undefined: there is none. */
  before: number | undefined;
  counts: MarkCounts;
}

function shownOf({ query }: PageRequest): Shown | '' {
  const show = query.text('show');
  return SHOWN.find(([name]) => name === show)?.[0] ?? '';
}

const viewOf = (query: FormFields): string => new URLSearchParams(query.given(VIEW)).toString();

/** Reads the page of matches that a query asks for. @throws ApiError invalid_request */
export async function readMatchList(pool: Pool, request: PageRequest): Promise<MatchList> {
  const { id, query } = request;
  const show = shownOf(request);
  const given = Object.entries(query.given([...FILTERS, 'before'])).map(([name, value]) => [
    name,
    LOCAL_TIME.test(value) ? `${value.padEnd(19, ':00')}Z` : value,
  ]);
  const asked = parseRequest(matchPageQuery, { order: 'newest', ...Object.fromEntries(given) }, 'query');
  const { seq: before, filter = {} } = matchPageRequest(id, asked);
  const [counts, stored] = await Promise.all([readMarkCounts(pool, id), readSeqRange(pool, id, filter)]);
  if (stored === undefined) return { matches: [], before: undefined, counts };
  const mark = show === 'bookmarked' || show === 'irrelevant' ? show : undefined;
  const first = show === 'unread' ? Math.max(stored.first, counts.readSeq + 1) : stored.first;
  const end = Math.min(stored.end, before ?? stored.end);
  const isSearch = mark === undefined && (filter.keyword !== undefined || filter.subreddit !== undefined);
  const from = isSearch ? Math.max(first, end - MAX_READ) : first;
  const hidden = parseMatchId(query.text('hidden'));
  const shown = { mark, exceptSeq: hidden?.monitorId === id ? hidden.seq : undefined, ...filter };
  // One more than the page holds shows whether there are more.
  const found = await readShownMatches(pool, id, { first: from, end }, shown, PER_PAGE + 1);
  const matches = found.slice(0, PER_PAGE);
  const rest = from > first ? await nearestSeq(pool, id, { first, end: from }, 'newest') : undefined;
  return {
    matches,
    before: found.length > PER_PAGE ? matches.at(-1)!.seq : rest === undefined ? undefined : rest + 1,
    counts,
  };
}

/** The most frequent values of the newest matches, to filter by. */
export interface Facets {
  keyword: readonly string[];
  subreddit: readonly string[];
}

export function matchSection(
  request: PageRequest,
  list: MatchList | undefined,
  facets: Facets,
  problems: FieldProblems,
): HtmlValue {
  return [
    html`<div class="list-head">
      <h2 id="matches">Matches</h2>
      <a class="button quiet" href="${request.path(`/monitors/${request.id}/export`)}"
        >${icon('arrow-down-tray')} Export</a
      >
      <button type="button" class="quiet" data-shortcuts hidden>Press <kbd>?</kbd> for shortcuts</button>
      ${list && readForm(request, list)}
    </div>`,
    list && shownChips(request, list.counts),
    filterChips(request, facets),
    filterForm(request, problems),
    list && entries(request, list),
    SHORTCUTS,
  ];
}

/** The address of the list with other values of its query; an empty one takes a filter away. The page begins anew. */
function withQuery({ id, path, query }: PageRequest, changes: Readonly<Record<string, string>>): string {
  const values = { ...query.given(VIEW), before: '', ...changes };
  const kept = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== '')).toString();
  return `${path(`/monitors/${id}`)}${kept === '' ? '' : `?${kept}`}`;
}

function shownChips(request: PageRequest, counts: MarkCounts): Html {
  const current = shownOf(request);
  const chips = SHOWN.map(([show, name]) => {
    const count = show === '' ? undefined : counts[show];
    const inWords = show === 'unread' && count === MAX_UNREAD ? `${number(MAX_UNREAD - 1)}+` : number(count ?? 0);
    return html`<a href="${withQuery(request, { show })}" ${current === show && html`aria-current="true"`}
      >${name}${count !== undefined && html` <span class="number" data-count="${show}">${inWords}</span>`}</a
    >`;
  });
  return html`<nav class="pills" aria-label="Which matches">${chips}</nav>`;
}

const TOP = 4;
const NAMES = { keyword: '', subreddit: 'r/', since: 'from ', until: 'before ' } as const;

/** The filters in force, each with its removal; of the others the most frequent values. */
function filterChips(request: PageRequest, facets: Facets): HtmlValue {
  const { query } = request;
  const used = FILTERS.filter((name) => query.text(name) !== '');
  const on = used.map((name) => {
    const value = query
      .text(name)
      .replace(name === 'subreddit' ? /^r\//i : /(?<=\d)T(?=\d)/, name === 'subreddit' ? '' : ' ');
    return html`<a class="on" href="${withQuery(request, { [name]: '' })}"
      ><span class="hidden">Remove the filter </span>${NAMES[name]}${value} ${icon('x-mark')}</a
    >`;
  });
  const off = (['keyword', 'subreddit'] as const).flatMap((name) =>
    used.includes(name) || facets[name].length < 2
      ? []
      : facets[name]
          .slice(0, TOP)
          .map((value) => html`<a href="${withQuery(request, { [name]: value })}">${NAMES[name]}${value}</a>`),
  );
  return on.length + off.length > 0 && html`<nav class="pills filters" aria-label="Filters">${on}${off}</nav>`;
}

function filterForm(request: PageRequest, problems: FieldProblems): Html {
  const { query } = request;
  const of = (name: string) => typed(query, problems, name);
  const show = shownOf(request);
  return html`<details ${problems.size > 0 && html`open`}>
    <summary>${icon('adjustments-horizontal')} More filters</summary>
    ${otherProblems(problems, FILTERS)}
    <form class="narrow" action="${request.path(`/monitors/${request.id}`)}">
      ${show !== '' && html`<input type="hidden" name="show" value="${show}" />`}
      ${field({ ...of('since'), label: 'Recorded from (UTC)', type: 'datetime-local' })}
      ${field({ ...of('until'), label: 'Recorded before (UTC)', type: 'datetime-local' })}
      ${field({ ...of('keyword'), label: 'Keyword', hint: 'As written in the rule.' })}
      ${field({ ...of('subreddit'), label: 'Community' })}
      <div class="actions"><button>Filter</button></div>
    </form>
  </details>`;
}

/** Whether it is the beginning of the list, in which new matches appear. */
function isLive(request: PageRequest): boolean {
  const show = shownOf(request);
  return (show === '' || show === 'unread') && Object.keys(request.query.given([...FILTERS, 'before'])).length === 0;
}

function entries(request: PageRequest, { matches, before, counts }: MatchList): HtmlValue {
  const { id, path, query } = request;
  const show = shownOf(request);
  const newest = Math.max(counts.lastSeq, matches[0]?.seq ?? 0);
  const after = newest > 0 && `?after=${matchId(id, newest)}`;
  const live =
    isLive(request) && html`data-stream="${path(`/monitors/${id}/stream`)}${after}" data-limit="${MAX_LIVE}"`;
  const view = viewOf(query);
  const isFiltered = FILTERS.some((name) => query.text(name) !== '');
  const empty =
    isFiltered || query.text('before') !== '' ? 'No matches on this page.' : SHOWN.find(([name]) => name === show)![2];
  return html`<ol class="items matches" aria-label="Matches, newest first" ${live}>
      ${matches.map(({ mark, ...stored }) =>
        matchEntry(request, matchResource(id, stored), {
          mark,
          isUnread: stored.seq > counts.readSeq,
          view,
          isHidden: mark === 'irrelevant' && show !== 'irrelevant',
        }),
      )}
    </ol>
    <p class="empty when-empty">${empty}</p>
    ${
      before !== undefined &&
      html`<p>
        <a class="button quiet" href="${withQuery(request, { before: matchId(id, before) })}">Older matches</a>
      </p>`
    }
    <p class="said" role="status" id="said-of-match"></p>`;
}

/**
 * The button that marks all matches up to the newest one shown as read. A page that shows all unread ones moves the
 * position by a script when it is seen (`data-auto`): a request for a page changes nothing, because browsers also make
 * them ahead of time.
 */
function readForm(request: PageRequest, { matches, before, counts }: MatchList): HtmlValue {
  const newest = matches[0]?.seq ?? 0;
  if (!isLive(request) || (newest <= counts.readSeq && counts.unread > 0)) return false;
  const last = matches.at(-1)?.seq ?? 0;
  const showsAll = newest > counts.readSeq && (before === undefined || last <= counts.readSeq);
  return html`<form
    method="post"
    action="${request.path(`/monitors/${request.id}/read`)}"
    class="inline"
    id="mark-read"
    ${showsAll && html`data-auto`}
    ${counts.unread === 0 && html`hidden`}
  >
    ${request.csrfField}
    <input type="hidden" name="seen" value="${matchId(request.id, Math.max(newest, counts.readSeq))}" />
    <input type="hidden" name="view" value="${viewOf(request.query)}" />
    <button class="quiet">${icon('check')} Mark all as read</button>
  </form>`;
}

const KEYS = [
  ['j', 'Next match'],
  ['k', 'Previous match'],
  ['o or Enter', 'Open it on the forum'],
  ['b', 'Bookmark, or remove the bookmark'],
  ['x', 'Not relevant, or undo'],
  ['?', 'This help'],
] as const;

const SHORTCUTS = html`<dialog id="shortcuts" aria-labelledby="shortcuts-title">
  <h2 id="shortcuts-title">Keyboard shortcuts</h2>
  <dl>
    ${KEYS.map(
      ([key, what]) =>
        html`<div>
          <dt><kbd>${key}</kbd></dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>
  <form method="dialog">
    <label class="check"><input type="checkbox" checked data-shortcuts-on /> <span>Shortcuts are on</span></label>
    <button class="quiet">Close</button>
  </form>
</dialog>`;

/** Forms about matches. With the field `part`, the response is the changed entry alone. */
export function markPages(pool: Pool): PageRoute[] {
  return [
    post('/monitors/:id/marks', (request) => mark(pool, request)),
    post('/monitors/:id/read', (request) => markAllRead(pool, request)),
  ];
}

const FULL: Readonly<Record<MatchMark, string>> = {
  bookmarked: `A monitor can have ${number(MAX_MARKS.bookmarked)} bookmarks. Remove some first.`,
  irrelevant: `${number(MAX_MARKS.irrelevant)} matches are marked as not relevant, the most that a monitor can have. Mute or exclude what they have in common.`,
};

async function mark(pool: Pool, request: PageRequest): Promise<PageResponse> {
  const { id, account, form } = request;
  const named = parseMatchId(form.text('match'));
  if (named?.monitorId !== id) throw noSuchMatch();
  const of = { accountId: account.id, monitorId: id, seq: named.seq };
  const wanted = form.text('mark');
  if (wanted === 'bookmarked' || wanted === 'irrelevant') {
    const outcome = await markMatch(pool, of, wanted);
    if (outcome === 'absent') throw noSuchMatch();
    if (outcome === 'full') throw new ApiError('invalid_request', FULL[wanted]);
  } else if (wanted !== 'none') throw new ApiError('invalid_request', 'mark: must be bookmarked, irrelevant or none');
  else if (!(await unmarkMatch(pool, of))) throw noSuchMatch();
  const given = viewGiven(form);
  const isHidden = wanted === 'irrelevant' && given.get('show') !== 'irrelevant';
  if (form.text('part') === '') {
    if (isHidden) given.set('hidden', form.text('match'));
    return { redirect: `${listAddress(id, given)}#${form.text('match')}` };
  }
  const now = await readOwnMatch(pool, of);
  if (now === undefined) throw noSuchMatch();
  const view = given.toString();
  const entry = matchEntry(request, matchResource(id, now.match), {
    ...now,
    view,
    isHidden,
    isUnread: now.isUnread || form.text('unread') !== '',
  });
  return { headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: Buffer.from(String(entry)) };
}

async function markAllRead(pool: Pool, request: PageRequest): Promise<PageResponse> {
  const { id, account, form } = request;
  await findLastSeq(pool, account.id, id);
  const seen = parseMatchId(form.text('seen'));
  if (seen?.monitorId !== id) throw noSuchMatch();
  await moveReadPosition(pool, { accountId: account.id, monitorId: id, seq: seen.seq });
  if (form.text('part') === '') return { redirect: listAddress(id, viewGiven(form)) };
  return { headers: { 'Content-Type': 'text/plain' }, body: Buffer.from('') };
}

/** The list that a form was in. Only what belongs to lists is kept. */
function viewGiven(form: FormFields): URLSearchParams {
  const given = [...new URLSearchParams(form.text('view'))];
  return new URLSearchParams(given.filter(([name, value]) => VIEW.includes(name) && value !== ''));
}

function listAddress(id: string, view: URLSearchParams): string {
  return `/monitors/${id}${view.size > 0 ? `?${view.toString()}` : ''}`;
}
