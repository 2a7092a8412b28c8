import type { Backfill } from '../../../schemas/api/backfills.ts';
import type { Monitor, MonitorMute, MonitorTerm, RuleWarning } from '../../../schemas/api/monitors.ts';
import type * as forum from '../../../schemas/api/reading.ts';
import type { CommentItem, ForumUser, Subreddit, ThingsResponse } from '../../../schemas/api/reading.ts';
import type { ExplainedTerm, ItemExplanation, PreviewAnswer, RuleExplanation } from '../../../schemas/api/rules.ts';
import type { Timeseries } from '../../../schemas/api/trends.ts';
import type { Post } from '../../../schemas/messages/forum-post.ts';
import type { MatchPage, MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { inlineText } from '../reading/untrusted-text.ts';
import { excerptOf } from './tool.ts';

export function matchesText({ items, after, before }: MatchPage): string {
  const lines = items.map((match) => `- ${matchLine(match)}`);
  const more =
    after === null ? (before === null ? [] : [`Older matches: before=${before}`]) : [`More matches: after=${after}`];
  return [
    ...(lines.length === 0 ? [more.length === 0 ? 'No matches.' : 'No matches on this page.'] : lines),
    ...more,
  ].join('\n');
}

function matchLine(match: MonitorMatch): string {
  const facts = [
    match.id,
    match.matched_terms.map(inlineText).join(', '),
    `${match.kind} ${match.thing_id}`,
    `r/${inlineText(match.subreddit)}`,
    `u/${inlineText(match.author)}`,
    match.created_utc,
    match.permalink,
  ];
  const body = excerptOf(match.body);
  return `${inlineText(match.title)} (${facts.join(' · ')})${body === '' ? '' : `: ${body}`}`;
}

export function monitorsText({ items, limit, used }: { items: Monitor[]; limit: number; used: number }): string {
  return [`${used} of ${limit} monitors:`, ...items.map((monitor) => `- ${monitorLine(monitor)}`)].join('\n');
}

interface Created {
  monitor: Monitor;
  webhook_secret: string;
  warnings?: RuleWarning[];
}

export function updatedText({ monitor, warnings = [] }: Omit<Created, 'webhook_secret'>): string {
  return [monitorLine(monitor), ...warningLines(warnings)].join('\n');
}

export function createdText({ monitor, webhook_secret: secret, warnings = [] }: Created): string {
  const signs =
    monitor.webhook_url === null ? '' : `\nIts webhooks are signed with ${secret}. This secret is shown only once.`;
  return [monitorLine(monitor) + signs, ...warningLines(warnings)].join('\n');
}

const warningLines = (warnings: readonly RuleWarning[]): string[] =>
  warnings.map(({ message }) => `Warning: ${inlineText(message)}`);

export function monitorLine(monitor: Monitor): string {
  const communities =
    monitor.subreddits.length === 0
      ? 'everywhere'
      : monitor.subreddits.map((name) => `r/${inlineText(name)}`).join(', ');
  const facts = [
    monitor.id,
    monitor.status,
    ...termFacts(monitor),
    ...(monitor.exclude.length === 0 ? [] : [`not: ${monitor.exclude.map(inlineText).join(', ')}`]),
    communities,
    ...filterFacts(monitor),
    ...(monitor.webhook_failing ? ['its webhook is failing'] : []),
    `last match ${monitor.last_match_at ?? 'never'}`,
  ];
  return `${inlineText(monitor.name)} (${facts.join(' · ')})`;
}

function termFacts({ keywords, terms = [], require = [], match_in: texts }: Monitor): string[] {
  return [
    ...(keywords.length === 0 ? [] : [`keywords: ${keywords.map(inlineText).join(', ')}`]),
    ...(terms.length === 0 ? [] : [`terms: ${terms.map(termText).join(', ')}`]),
    ...require.map((group) => `and one of: ${group.map(termText).join(', ')}`),
    ...(texts === undefined ? [] : [`in ${texts.join(', ')}`]),
  ];
}

function termText(term: string | MonitorTerm): string {
  if (typeof term === 'string') return inlineText(term);
  const conditions = [
    ...(term.prefix === true ? ['prefix'] : []),
    ...(term.case_sensitive === true ? ['case-sensitive'] : []),
    ...(term.in === undefined ? [] : [`in ${term.in.join(', ')}`]),
  ];
  return inlineText(term.text) + (conditions.length === 0 ? '' : ` (${conditions.join(', ')})`);
}

function filterFacts(monitor: Monitor): string[] {
  const { exclude_subreddits: subreddits, authors, exclude_authors: excluded, languages } = monitor;
  const list = (title: string, prefix: string, names: readonly string[] | undefined) =>
    names === undefined ? [] : [`${title} ${names.map((name) => prefix + inlineText(name)).join(', ')}`];
  return [
    ...list('not in', 'r/', subreddits),
    ...list('by', 'u/', authors),
    ...list('not by', 'u/', excluded),
    ...list('languages:', '', languages),
    ...(monitor.thread_once === true ? ['once a thread and day'] : []),
  ];
}

export function mutesText({ items, limit }: { items: MonitorMute[]; limit: number }): string {
  return [`${items.length} of ${limit} mutes:`, ...items.map((mute) => `- ${muteLine(mute)}`)].join('\n');
}

export function muteLine({ id, kind, value }: MonitorMute): string {
  const prefix = { subreddit: 'r/', author: 'u/', thread: '' }[kind];
  return `${prefix}${inlineText(value)} (${id})`;
}

export function backfillLine({ id, state, from, to, share, matches, already_known: known, credits }: Backfill): string {
  const facts = [
    `${from} to ${to}`,
    `${Math.floor(share * 100)} %`,
    `${matches} matches`,
    `${known} already known`,
    `${credits} credits`,
  ];
  return `${state} (${id}): ${facts.join(' · ')}`;
}

type AnyListing = forum.PostListing | forum.SubredditListing | forum.UserListing;

/** A page: one line per item, and how to get the next page. */
export function listingText(listing: AnyListing): string {
  const lines = listing.items.map((item) => `- ${itemLine(item)}`);
  const notes = [
    listing.degraded ? 'This is an older copy, or some items could not be read.' : '',
    listing.filtered_nsfw > 0 ? `${listing.filtered_nsfw} NSFW items omitted.` : '',
    listing.after === null ? '' : `Next page: after=${listing.after}`,
  ];
  return [...(lines.length === 0 ? ['Nothing found.'] : lines), ...notes].filter((line) => line !== '').join('\n');
}

function itemLine(item: Post | Subreddit | ForumUser): string {
  if ('selftext' in item) return postLine(item);
  return 'subscribers' in item ? communityLine(item) : userLine(item);
}

export function thingsText({ items, missing }: ThingsResponse): string {
  const lines = items.map((item) =>
    item.kind === 'post' ? `- ${postLine(item.post)}` : `- ${commentLine(item.comment)}`,
  );
  return [...lines, ...(missing.length === 0 ? [] : [`Missing: ${missing.map(inlineText).join(', ')}`])].join('\n');
}

export function subredditText(community: Subreddit): string {
  const about = excerptOf(community.public_description || community.description);
  const rules = community.rules.map(({ short_name }, index) => `${index + 1}. ${inlineText(short_name)}`);
  return [communityLine(community), about, ...(rules.length === 0 ? [] : ['Rules:', ...rules])]
    .filter((line) => line !== '')
    .join('\n');
}

function postLine(post: Post): string {
  const flags = [post.over_18 ? 'NSFW' : '', post.stickied ? 'pinned' : '', post.removed ? 'removed' : ''];
  const facts = [
    post.name,
    `r/${inlineText(post.subreddit)}`,
    `u/${inlineText(post.author)}`,
    `${post.score} points`,
    `${post.num_comments} comments`,
    post.created_at,
    ...flags,
  ];
  const text = excerptOf(post.selftext);
  return `${inlineText(post.title)} (${facts.filter((fact) => fact !== '').join(' · ')})${text === '' ? '' : `: ${text}`}`;
}

function commentLine(comment: CommentItem): string {
  const facts = [
    comment.name,
    `r/${inlineText(comment.subreddit)}`,
    `u/${inlineText(comment.author)}`,
    `${comment.score} points`,
    comment.created_at,
    `on "${inlineText(comment.post_title)}" t3_${comment.post_id}`,
  ];
  return `(${facts.join(' · ')}): ${excerptOf(comment.body)}`;
}

function communityLine(community: Subreddit): string {
  const nsfw = community.over_18 ? ' · NSFW' : '';
  return `r/${inlineText(community.name)}: ${inlineText(community.title)} (${community.type} · ${community.subscribers} subscribers · since ${community.created_at}${nsfw})`;
}

export function userLine(user: ForumUser): string {
  const since = user.created_at === null ? '' : ` · since ${user.created_at}`;
  const flags = [user.suspended ? 'suspended' : '', user.is_employee ? 'employee' : ''].filter((flag) => flag !== '');
  return [
    `u/${inlineText(user.name)}: ${user.total_karma} karma (${user.link_karma} posts, ${user.comment_karma} comments)${since}`,
    ...flags,
  ].join(' · ');
}

/** An explanation in few lines: whether it matches, the terms, what filters reject, and the history. */
export function explanationText(explanation: ItemExplanation | RuleExplanation): string {
  const { matched, terms, require = [], excludes, filters, history } = explanation;
  const failed = filters.filter(({ passed }) => !passed).map(({ filter }) => filter);
  return [
    matched === null
      ? 'Its content is not available.'
      : matched
        ? 'It matches the rule.'
        : 'It does not match the rule.',
    ...terms.map((term) => `- ${explainedTermText(term)}`),
    ...require.flatMap((group, number) =>
      group.terms.map((term) => `- required group ${number + 1}: ${explainedTermText(term)}`),
    ),
    ...excludes.map((term) => `- excluded: ${explainedTermText(term)}`),
    ...(failed.length === 0 ? [] : [`Rejected by: ${failed.join(', ')}`]),
    ...history.map(({ at, message }) => `${at ?? 'then'}: ${inlineText(message)}`),
  ].join('\n');
}

function explainedTermText({ term, matched, positions, nearest }: ExplainedTerm): string {
  const found = positions.map(({ field, start, end }) => `${field} ${start}–${end}`).join(', ');
  const why = nearest === null ? '' : ` ${inlineText(nearest.message)}`;
  return matched ? `${inlineText(term)}: in ${found}` : `${inlineText(term)}: not found.${why}`;
}

/** Samples shown as text; the structured answer has all. */
const SHOWN = 5;
const EXCERPT = 200;

/** A preview in few lines: how many, when, where, the newest ones, and what to think about. */
export function previewText(preview: PreviewAnswer): string {
  const { total, exact, exact_from: from, by_day: days, by_keyword: keywords, by_subreddit: subreddits } = preview;
  const counted = (entries: [string, number][]): string =>
    entries.map(([name, count]) => `${name} ${count}`).join(', ');
  const listed = (label: string, entries: [string, number][]): string[] =>
    entries.length === 0 ? [] : [`${label}: ${counted(entries.slice(0, 10))}`];
  return [
    `${total} matches since ${from}${exact ? '' : '; older matches could not be counted in time'}.`,
    ...listed(
      'By day',
      days.map(({ day, count }) => [day, count]),
    ),
    ...listed(
      'By keyword',
      keywords.map(({ keyword, count }) => [inlineText(keyword), count]),
    ),
    ...listed(
      'By community',
      subreddits.map(({ subreddit, count }) => [`r/${subreddit}`, count]),
    ),
    ...(preview.capped_days.length === 0 ? [] : [`Daily cap exceeded on: ${preview.capped_days.join(', ')}`]),
    `Running for 30 days costs ${preview.credits_per_30_days} credits.`,
    ...preview.warnings.map(({ message }) => `Warning: ${inlineText(message)}`),
    ...preview.suggestions.map(({ kind, message }) => `Suggestion (${kind}): ${inlineText(message)}`),
    ...preview.samples.slice(0, SHOWN).map((sample) => `- ${sampleText(sample)}`),
  ].join('\n');
}

function sampleText({ kind, subreddit, title, body, permalink }: PreviewAnswer['samples'][number]): string {
  const text = kind === 'post' ? `${title} ${body}` : body;
  return `r/${subreddit} ${permalink}: ${inlineText(text.slice(0, EXCERPT).toWellFormed())}`;
}

/** The structured answer has all of them. */
const LINES = 200;

/** Spikes first, then the newest counts, one a line. */
export function timeseriesText({ interval, from, to, items, truncated, spikes }: Timeseries): string {
  const shown = items.slice(-LINES);
  return [
    `By ${interval}, ${from} to ${to}.`,
    ...spikes.map(
      ({ at, count, median, score }) => `Spike at ${at}: ${count} matches, usually ${median} (score ${score}).`,
    ),
    ...(shown.length === 0 ? ['No matches.'] : []),
    ...(truncated || shown.length < items.length ? ['Older counts are omitted.'] : []),
    ...shown.map(({ at, keyword, subreddit, count }) => {
      const of = [keyword === null ? '' : inlineText(keyword), subreddit === null ? '' : `r/${inlineText(subreddit)}`];
      return [`${at}: ${count}`, ...of.filter((part) => part !== '')].join(' · ');
    }),
  ].join('\n');
}
