import type { Backfill } from '../../../schemas/api/backfills.ts';
import type { Monitor, MonitorMute, MonitorTerm, RuleWarning } from '../../../schemas/api/monitors.ts';
import type { MatchPage, MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { inlineText } from '../reading/untrusted-text.ts';
import { excerptOf } from './tool.ts';

export function matchesText({ items, after, before }: MatchPage): string {
  const lines = items.map((match) => `- ${matchLine(match)}`);
  const more =
    after === null ? (before === null ? [] : [`Older ones: before=${before}`]) : [`More are waiting: after=${after}`];
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
    monitor.webhook_url === null ? '' : `\nIts webhooks are signed with ${secret}, which is shown this once.`;
  return [monitorLine(monitor) + signs, ...warningLines(warnings)].join('\n');
}

const warningLines = (warnings: readonly RuleWarning[]): string[] =>
  warnings.map(({ message }) => `Warning: ${inlineText(message)}`);

export function monitorLine(monitor: Monitor): string {
  const places =
    monitor.subreddits.length === 0
      ? 'everywhere'
      : monitor.subreddits.map((name) => `r/${inlineText(name)}`).join(', ');
  const facts = [
    monitor.id,
    monitor.status,
    ...termFacts(monitor),
    ...(monitor.exclude.length === 0 ? [] : [`not: ${monitor.exclude.map(inlineText).join(', ')}`]),
    places,
    ...filterFacts(monitor),
    ...(monitor.webhook_failing ? ['its webhook fails'] : []),
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
  const { exclude_subreddits: places, authors, exclude_authors: others, languages } = monitor;
  const list = (title: string, prefix: string, names: readonly string[] | undefined) =>
    names === undefined ? [] : [`${title} ${names.map((name) => prefix + inlineText(name)).join(', ')}`];
  return [
    ...list('not in', 'r/', places),
    ...list('by', 'u/', authors),
    ...list('not by', 'u/', others),
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
