import { matchPageQuery } from '../../../schemas/api/match-page-query.ts';
import {
  createdMonitor,
  createMonitorBody,
  monitorAnswer,
  monitorList,
  monitorPaused,
  patchMonitorBody,
  updatedMonitor,
} from '../../../schemas/api/monitor.ts';
import type { Monitor, RuleWarning } from '../../../schemas/api/monitor.ts';
import { backfillAnswer, backfillList, startBackfillBody } from '../../../schemas/api/monitors/backfill.ts';
import type { Backfill } from '../../../schemas/api/monitors/backfill.ts';
import { createMuteBody, muteAnswer, muteDeleted, muteList } from '../../../schemas/api/monitors/monitor-mutes.ts';
import type { MonitorMute } from '../../../schemas/api/monitors/monitor-mutes.ts';
import type { MonitorTerm } from '../../../schemas/api/monitors/monitor-refinements.ts';
import { matchPage } from '../../../schemas/messages/monitor-match.ts';
import type { MatchPage, MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { inlineText } from '../reading/comments/untrusted-text.ts';
import { byMonitor, excerptOf, inputOfQuery, inputSchemaOf } from './tool.ts';
import type { ObjectSchema, RouteTool } from './tool.ts';

const READS = { readOnlyHint: true, openWorldHint: false } as const;
const CHANGES = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

const partId = (name: string, description: string): ObjectSchema => ({
  type: 'object',
  properties: { [name]: { type: 'string', description } },
  required: [name],
});

/** Monitors, their matches, mutes and backfills. */
export const MONITOR_TOOLS: readonly RouteTool[] = [
  {
    name: 'get_monitor_matches',
    title: 'Matches of a monitor',
    description:
      'A page of the posts and comments that a monitor matched. With `order=oldest`, pass the `after` of a page to get the next one: nothing is missed. Free.',
    annotations: READS,
    input: byMonitor(inputOfQuery(matchPageQuery)),
    output: matchPage,
    route: 'get /v1/monitors/:id/matches',
    toText: matchesText,
  },
  {
    name: 'list_monitors',
    title: 'List monitors',
    description: "The account's monitors, with how many the plan allows. Free.",
    annotations: READS,
    input: { type: 'object', properties: {}, additionalProperties: false },
    output: monitorList,
    route: 'get /v1/monitors',
    toText: monitorsText,
  },
  {
    name: 'create_monitor',
    title: 'Create a monitor',
    description:
      'Watches every new post and comment for keywords (whole words and phrases), or for `terms` with conditions, where every group of `require` and all filters fit. Read matches with get_monitor_matches; they are also sent to `webhook_url` if ' +
      'set. Costs 10 credits, and 10 for each further 24 hours that it runs; with `backfill_hours` also 1 for each started 100 earlier matches.',
    annotations: { ...CHANGES, idempotentHint: false },
    input: inputSchemaOf(createMonitorBody),
    output: createdMonitor,
    route: 'post /v1/monitors',
    toText: createdText,
  },
  {
    name: 'update_monitor',
    title: 'Change a monitor',
    description:
      'Changes the given fields and keeps the others; `null` or an empty list removes a condition. A changed rule applies to everything posted after the answer; what is replaced cannot be read again. Free.',
    annotations: { ...CHANGES, destructiveHint: true, idempotentHint: true },
    input: byMonitor(inputSchemaOf(patchMonitorBody)),
    output: updatedMonitor,
    route: 'patch /v1/monitors/:id',
    toText: updatedText,
  },
  {
    name: 'pause_monitor',
    title: 'Pause a monitor',
    description: 'Stops a monitor at once. Deliveries that are already queued are still sent. Free.',
    annotations: { ...CHANGES, idempotentHint: true },
    input: byMonitor(),
    output: monitorPaused,
    route: 'post /v1/monitors/:id/pause',
    toText: () => 'Paused.',
  },
  {
    name: 'resume_monitor',
    title: 'Resume a monitor',
    description: 'Starts a paused monitor again. Costs 10 credits, or nothing when it is already running.',
    annotations: { ...CHANGES, idempotentHint: true },
    input: byMonitor(),
    output: monitorAnswer,
    route: 'post /v1/monitors/:id/resume',
    toText: ({ monitor }: { monitor: Monitor }) => monitorLine(monitor),
  },
  {
    name: 'list_mutes',
    title: 'List the mutes of a monitor',
    description: 'The communities, accounts and threads whose posts and comments a monitor does not record. Free.',
    annotations: READS,
    input: byMonitor(),
    output: muteList,
    route: 'get /v1/monitors/:id/mutes',
    toText: mutesText,
  },
  {
    name: 'add_mute',
    title: 'Mute a community, an account or a thread',
    description: 'From now on the monitor records nothing of it; what is recorded stays. Takes effect at once. Free.',
    annotations: { ...CHANGES, idempotentHint: true },
    input: byMonitor(inputSchemaOf(createMuteBody)),
    output: muteAnswer,
    route: 'post /v1/monitors/:id/mutes',
    toText: ({ mute }: { mute: MonitorMute }) => `Muted: ${muteLine(mute)}`,
  },
  {
    name: 'remove_mute',
    title: 'Remove a mute',
    description: 'The monitor records again what is posted after this. Free.',
    annotations: { ...CHANGES, idempotentHint: false },
    input: byMonitor(partId('mute_id', 'Id of a mute, `mute_…`.')),
    output: muteDeleted,
    route: 'delete /v1/monitors/:id/mutes/:mute_id',
    toText: () => 'No longer muted.',
  },
  {
    name: 'start_backfill',
    title: 'Find earlier matches of a monitor',
    description:
      'Makes what matched in the last 30 days matches of the monitor, marked with `backfill`. Runs by itself; see get_backfill. Costs 1 credit for each started 100 matches: set `max_credits`. With `deliver` they are also sent to the webhook, which cannot be undone.',
    annotations: { ...CHANGES, idempotentHint: false },
    input: byMonitor(inputSchemaOf(startBackfillBody)),
    output: backfillAnswer,
    route: 'post /v1/monitors/:id/backfill',
    toText: ({ backfill }: { backfill: Backfill }) => backfillLine(backfill),
  },
  {
    name: 'get_backfill',
    title: 'Progress of the backfills of a monitor',
    description: 'The newest backfills of a monitor, with what they found and cost so far. Free.',
    annotations: READS,
    input: byMonitor(),
    output: backfillList,
    route: 'get /v1/monitors/:id/backfill',
    toText: ({ items }: { items: Backfill[] }) =>
      items.length === 0 ? 'No backfill yet.' : items.map((run) => `- ${backfillLine(run)}`).join('\n'),
  },
  {
    name: 'cancel_backfill',
    title: 'Cancel a backfill of a monitor',
    description:
      'The run records and charges nothing more; what it recorded stays. Another run can find the rest later. Free.',
    annotations: { ...CHANGES, destructiveHint: true, idempotentHint: true },
    input: byMonitor(partId('run_id', 'Id of a backfill, `bf_…`.')),
    output: backfillAnswer,
    route: 'delete /v1/monitors/:id/backfill/:run_id',
    toText: ({ backfill }: { backfill: Backfill }) => backfillLine(backfill),
  },
];

function matchesText({ items, after, before }: MatchPage): string {
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

function monitorsText({ items, limit, used }: { items: Monitor[]; limit: number; used: number }): string {
  return [`${used} of ${limit} monitors:`, ...items.map((monitor) => `- ${monitorLine(monitor)}`)].join('\n');
}

interface Created {
  monitor: Monitor;
  webhook_secret: string;
  warnings?: RuleWarning[];
}

function updatedText({ monitor, warnings = [] }: Omit<Created, 'webhook_secret'>): string {
  return [monitorLine(monitor), ...warningLines(warnings)].join('\n');
}

function createdText({ monitor, webhook_secret: secret, warnings = [] }: Created): string {
  const signs =
    monitor.webhook_url === null ? '' : `\nIts webhooks are signed with ${secret}, which is shown this once.`;
  return [monitorLine(monitor) + signs, ...warningLines(warnings)].join('\n');
}

const warningLines = (warnings: readonly RuleWarning[]): string[] =>
  warnings.map(({ message }) => `Warning: ${inlineText(message)}`);

function monitorLine(monitor: Monitor): string {
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

function mutesText({ items, limit }: { items: MonitorMute[]; limit: number }): string {
  return [`${items.length} of ${limit} mutes:`, ...items.map((mute) => `- ${muteLine(mute)}`)].join('\n');
}

function muteLine({ id, kind, value }: MonitorMute): string {
  const prefix = { subreddit: 'r/', author: 'u/', thread: '' }[kind];
  return `${prefix}${inlineText(value)} (${id})`;
}

function backfillLine({ id, state, from, to, share, matches, already_known: known, credits }: Backfill): string {
  const facts = [
    `${from} to ${to}`,
    `${Math.floor(share * 100)} %`,
    `${matches} matches`,
    `${known} already known`,
    `${credits} credits`,
  ];
  return `${state} (${id}): ${facts.join(' · ')}`;
}
