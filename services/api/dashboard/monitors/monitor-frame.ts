import type {
  Monitor,
  MonitorDelivery,
  MonitorTerm,
  RuleSettingsResource,
  RuleWarning,
} from '../../../../schemas/api/monitors.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../../shared/billing/rules/plans.ts';
import { MAX_UNREAD_IN_LISTS } from '../../../../shared/matches/match-marks.ts';
import type { RuleSettings } from '../../../../shared/monitors/rules/print-rule-query.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import type { RuleTerm, SearchedText } from '../../../../shared/matching/rule.ts';
import { TermIndex } from '../../../../shared/matching/terms/term-index.ts';
import type { TermKind } from '../../../../shared/matching/text/tokens.ts';
import { NO_PROBLEMS } from '../page.ts';
import type { FieldProblems, ShownPage, PageRequest } from '../page.ts';
import { copyable, doneNotice, list, postButton } from '../parts.ts';

type Part = readonly [path: string, name: string];

/** The tabs of a monitor with the pages below each. */
const TABS: readonly (readonly [name: string, pages: readonly Part[]])[] = [
  ['Matches', [['', 'Matches']]],
  ['Deliveries', [['/deliveries', 'Deliveries']]],
  ['Insights', [['/trends', 'Insights']]],
  [
    'Rule',
    [
      ['/edit', 'Rule'],
      ['/mutes', 'Mutes'],
      ['/explain', 'Check an item'],
    ],
  ],
  [
    'Settings',
    [
      ['/settings', 'General'],
      ['/webhook', 'Delivery'],
      ['/earlier', 'Earlier matches'],
      ['/export', 'Export and feed'],
    ],
  ],
];

/** The charts of a monitor that is younger have hours. */
export const YOUNG_HOURS = 72;

export function isYoung({ created_at: createdAt }: Pick<Monitor, 'created_at'>, now: number): boolean {
  return now - Date.parse(createdAt) < YOUNG_HOURS * 3_600_000;
}

const DONE: Readonly<Record<string, string>> = {
  changed: 'The change was saved. It applies to new posts and comments.',
  delivery: 'Saved. New matches go there.',
  paused: `The monitor is paused and costs nothing. Resuming begins a new day, for ${MONITOR_PERIOD_CREDITS} credits.`,
  resumed: 'The monitor is running.',
  muted: 'Muted: nothing more from there is recorded. Undo it under Rule, Mutes.',
  removed: 'The mute was removed.',
  revoked: 'The feed was revoked. Its URLs no longer work.',
  started: 'The search is queued. What it finds appears among the matches.',
  cancelled: 'The search was cancelled: nothing more is recorded or charged.',
};

/** @throws ApiError not_found */
export async function readMonitor(request: PageRequest): Promise<Monitor> {
  return ((await request.read('/v1/monitors/:id')) as { monitor: Monitor }).monitor;
}

/** A page of a monitor, with its tabs. @param current the page's path below the monitor's */
export function monitorPage(
  request: PageRequest,
  current: string,
  page: { monitor: Monitor; title: string; content: HtmlValue; problems?: FieldProblems },
): ShownPage {
  const { monitor, title, content, problems = NO_PROBLEMS } = page;
  const link = ([below, name]: Part, isCurrent: boolean) =>
    html`<a href="${request.path(`/monitors/${monitor.id}${below}`)}" ${isCurrent && html`aria-current="page"`}
      >${name}</a
    >`;
  const has = (pages: readonly Part[]) => pages.some(([below]) => below === current);
  const pages = TABS.find(([, all]) => has(all))![1];
  return {
    title,
    status: problems.size > 0 ? 400 : 200,
    heading: html`<div class="title">
        <h1>${monitor.name}</h1>
        ${stateInWords(monitor)}
        <div class="actions">${runButtons(request, monitor)}</div>
      </div>
      <nav class="tabs" aria-label="This monitor">${TABS.map(([name, all]) => link([all[0]![0], name], has(all)))}</nav>
      ${
        pages.length > 1 &&
        html`<nav class="pills" aria-label="${title}">${pages.map((part) => link(part, part[0] === current))}</nav>`
      }`,
    content: html`${doneNotice(request, DONE)} ${content}`,
  };
}

const STATES: Readonly<Record<Monitor['status'], string>> = {
  active: 'Running',
  paused: 'Paused',
  paused_balance: 'Paused: out of credits',
  deleted: 'Deleted',
};

export function stateInWords({ status }: Pick<Monitor, 'status'>): Html {
  const kind = status === 'active' ? 'good' : status === 'paused' ? '' : 'bad';
  return html`<span class="state ${kind}">${STATES[status]}</span>`;
}

/** "12 new". @param page the monitor's address */
export function unreadLink(page: string, unread: number): HtmlValue {
  if (unread === 0) return false;
  const count = unread >= MAX_UNREAD_IN_LISTS ? `${MAX_UNREAD_IN_LISTS - 1}+` : unread;
  return html`<a class="unread-count" href="${page}?show=unread">${count} new</a>`;
}

/** The button that pauses or resumes a monitor; what resuming costs is on it. */
export function runButtons(request: PageRequest, { id, name, status }: Monitor): Html {
  const of = html`<span class="hidden"> ${name}</span>`;
  return status === 'active'
    ? postButton(request, { action: `/monitors/${id}/pause`, label: html`Pause${of}` })
    : postButton(request, {
        action: `/monitors/${id}/resume`,
        label: html`Resume${of} for ${MONITOR_PERIOD_CREDITS} credits`,
      });
}

const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'timed out after 8 seconds',
  dns: 'host name not found',
  tls: 'TLS or certificate error',
  connect: 'connection failed',
  blocked_address: 'the address is not public',
  redirect: 'redirects are not followed',
  http_status: 'expected 2xx',
  local: 'something went wrong on our side',
  secret_unreadable: 'its secret can no longer be read; create a new one',
};

/** An answer of a receiver: "It answered 500: its answer is not a 2xx". @param status 0: no answer */
export function answerInWords(status: number, error: string | null): string {
  const answered = status === 0 ? 'No response' : `Response ${status}`;
  return error === null ? answered : `${answered}: ${ERRORS[error] ?? error}`;
}

const DELIVERIES: Readonly<Record<MonitorDelivery['state'], readonly [kind: string, words: string]>> = {
  ok: ['good', 'Delivering'],
  retrying: ['warn', 'The last delivery failed'],
  failing: ['bad', 'The webhook is failing'],
  none: ['', 'No webhook'],
};

export function deliveryInWords(delivery: MonitorDelivery): Html {
  const { state, last_status: status, last_error: error, last_delivered_at: delivered } = delivery;
  const isUnused = state === 'ok' && delivered === null;
  const [kind, words] = isUnused ? ['', 'No match has been delivered yet'] : DELIVERIES[state];
  const why = error === null ? '' : `. ${answerInWords(status ?? 0, error)}`;
  return html`<span class="state ${kind}">${words}${why}</span>`;
}

export function matchLink({ id, path }: PageRequest, match: string): Html {
  return html`<a href="${path(`/monitors/${id}/matches/${match}`)}">${match.slice(-12).replace(/^0+/, 'no. ')}</a>`;
}

export function secretShownOnce(secret: string): Html {
  return html`<h2>Webhook secret</h2>
    <p>It is shown only once. Receivers use it to verify signatures.</p>
    ${copyable('secret', secret, 'the secret')}`;
}

export function inWords(sentences: readonly string[] | undefined): HtmlValue {
  return (
    sentences !== undefined &&
    html`<div class="card" id="said">
      <h2>The rule in words</h2>
      ${list(sentences)}
    </div>`
  );
}

export function warningsNotice(warnings: readonly RuleWarning[] | undefined): HtmlValue {
  return (
    warnings !== undefined &&
    html`<div class="notice bad">
      <p><strong>This may not do what you mean:</strong></p>
      ${list(warnings.map(({ message }) => message))}
    </div>`
  );
}

/** Converts a rule of the API to the form that matching uses. What is absent has its usual value. */
export function ruleOf(settings: RuleSettingsResource): RuleSettings {
  const { keywords = [], exclude = [], subreddits = [], posts = true, comments = true, nsfw = false } = settings;
  const { terms, require, match_in: matchIn, authors, languages, thread_once: threadOnce = false } = settings;
  const { exclude_subreddits: excludeSubreddits, exclude_authors: excludeAuthors } = settings;
  return {
    ...{ keywords, exclude, subreddits, posts, comments, nsfw, threadOnce },
    ...(terms && { terms: terms.map(ruleTerm) }),
    ...(require && { require: require.map((group) => group.map((t) => (typeof t === 'string' ? t : ruleTerm(t)))) }),
    ...(matchIn && { matchIn }),
    ...(excludeSubreddits && { excludeSubreddits }),
    ...(authors && { authors }),
    ...(excludeAuthors && { excludeAuthors }),
    ...(languages && { languages }),
  };
}

const ruleTerm = ({ text, prefix, case_sensitive: caseSensitive, in: texts }: MonitorTerm): RuleTerm => ({
  text,
  ...(prefix === true && { prefix }),
  ...(caseSensitive === true && { caseSensitive }),
  ...(texts && { in: texts }),
});

export function ruleOfMonitor(monitor: Monitor): RuleSettings {
  return ruleOf({ ...monitor, posts: monitor.include_posts, comments: monitor.include_comments });
}

const LANGUAGE_NAMES = new Intl.DisplayNames('en', { type: 'language' });

/** Only classifies terms. It stays empty. */
const TERMS = new TermIndex();

/** A rule in sentences, for its owner to check. Plain text, because it holds what people wrote. */
export function ruleInWords(rule: RuleSettings): string[] {
  const { keywords, terms = [], require = [], exclude, matchIn = [], authors = [], excludeAuthors = [] } = rule;
  const where = matchIn.length === 0 ? '' : `, only in ${oneOf(matchIn.map((text) => WHERE[text]))}`;
  return [
    `Watches ${watched(rule)}.`,
    `Matches ${oneOf([...keywords, ...terms].map(termInWords))}${where}.`,
    ...require.map((group) => `AND ${oneOf(group.map(termInWords))}.`),
    ...(exclude.length > 0 ? [`AND NOT ${oneOf(exclude.map(termInWords))}, in any text.`] : []),
    ...(authors.length > 0 ? [`Only by ${oneOf(authors.map(account))}.`] : []),
    ...(excludeAuthors.length > 0 ? [`Not by ${oneOf(excludeAuthors.map(account))}.`] : []),
    ...languagesInWords(rule.languages ?? []),
    ...(rule.threadOnce ? ['At most one match per thread and day (UTC); further ones are stored but not sent.'] : []),
  ];
}

function watched({ posts, comments, subreddits, excludeSubreddits = [], nsfw }: RuleSettings): string {
  const kinds = [posts && 'posts', comments && 'comments'].filter((kind) => kind !== false);
  if (kinds.length === 0) return 'neither posts nor comments, so it never matches';
  const communities = subreddits.length === 0 ? 'all communities' : oneOf(subreddits.map(community));
  const without = excludeSubreddits.length === 0 ? '' : ` but not in ${oneOf(excludeSubreddits.map(community))}`;
  return `${kinds.join(' and ')} in ${communities}${without}${nsfw ? '' : ', except NSFW'}`;
}

const WHERE: Readonly<Record<SearchedText, string>> = {
  title: 'the title of a post',
  body: 'the text of a post or comment',
  post_title: "the title of a comment's post",
};

function languagesInWords(codes: readonly string[]): string[] {
  if (codes.length === 0) return [];
  const names = codes.filter((code) => code !== 'und').map((code) => LANGUAGE_NAMES.of(code) ?? code);
  if (codes.includes('und')) names.push('an unclear language');
  return [`Only in ${oneOf(names)}.`];
}

const community = (name: string): string => `r/${name}`;
const account = (name: string): string => `u/${name}`;

function termInWords(term: string | RuleTerm): string {
  const { text, prefix, caseSensitive, in: texts = [] } = typeof term === 'string' ? { text: term } : term;
  const kind = TERMS.kindOf(text, { prefix });
  const letters = caseSensitive === true ? ', case-sensitive' : '';
  const limit = texts.length === 0 ? '' : ` (only in ${oneOf(texts.map((each) => WHERE[each]))})`;
  return `${KINDS[kind ?? 'symbols']} “${text}”${letters}${limit}`;
}

const KINDS: Readonly<Record<TermKind, string>> = {
  word: 'the whole word',
  prefix: 'a word that begins with',
  phrase: 'the whole words',
  punctuation: 'exactly',
  characters: 'the characters',
  symbols: 'the symbols',
};

function oneOf(alternatives: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(alternatives);
}
