import type { z } from 'zod';
import { explainBody, explainQuery, itemExplanation, ruleExplanation } from '../../../schemas/api/rules.ts';
import type { HistoryEvent, ItemExplanation } from '../../../schemas/api/rules.ts';
import type { ItemContent } from '../../../schemas/messages/forum-item.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import type { ArchivedItem } from '../../../shared/archive/archived-item.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { isArchiveUnavailable } from '../../../shared/clickhouse/clickhouse-unavailable.ts';
import { itemHistory } from '../../../shared/matches/rules/item-history.ts';
import { blankedContent } from '../../../shared/matches/rules/match-resource.ts';
import { explain } from '../../../shared/matching/explain.ts';
import type { Explanation } from '../../../shared/matching/explain.ts';
import { matchOne } from '../../../shared/matching/monitor-index.ts';
import type { MatchItem } from '../../../shared/matching/rule.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { findArchivedItem } from '../../../shared/archive/archived-item.ts';
import { hasUnstoredMatches, readMonitorHistory, readItemInMonitor } from '../../../shared/monitors/monitor-history.ts';
import type { ItemInMonitor } from '../../../shared/monitors/monitor-history.ts';
import { listMutes, ruleOf } from '../../../shared/monitors/monitors.ts';
import type { StoredMonitor } from '../../../shared/monitors/monitors.ts';
import { forumHosts, parseReference } from '../../../shared/rules/forum-reference.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { freeWorkSlots, PacedSemaphore } from '../http/account-slots.ts';
import { ApiError, engineUnavailable, invalidRequest } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { explanationText } from '../mcp/tool-text.ts';
import { READS } from '../mcp/tool.ts';
import { unsavedRule } from './check-settings.ts';
import { explanationResource } from './explanation-resource.ts';
import { findMonitor, MONITOR_ID } from './find-monitor.ts';

/**
 * Enough for people and their tools. The response has the text of the item, which costs credits elsewhere, and a search
 * for an item that was never seen costs the archive as much.
 */
const EXPLANATIONS_PER_DAY = { maxUses: 500, seconds: 86_400 };

/**
 * Why something matches a rule or does not, and what happened to it in a monitor. Free, so the long texts of many
 * accounts are explained one after the other, with rests: a text of 40,000 characters takes a tenth of a second.
 */
export function explainRoutes(deps: ExplainDeps): Route[] {
  const semaphore = new PacedSemaphore('explanations');
  const accountSlots = freeWorkSlots('explanations');
  return [
    route({
      method: 'get',
      path: '/v1/monitors/:id/explain',
      scope: 'monitors:read',
      operationId: 'explainThing',
      tag: 'Monitors',
      summary: 'Explain why a monitor matched a post or comment, or did not',
      description:
        'Explains a post or comment of the last 30 days by the current rule and mutes of the monitor. `history` says when the item was seen, which version of the rule was applied, and whether it was recorded, or why not. For an item that is not in the archive, `item` and `matched` are null. Free, 500 times in 24 hours.',
      params: { id: MONITOR_ID },
      query: explainQuery,
      example: { thing: 't3_1b6xk0p' },
      responses: [ok('The explanation.', itemExplanation)],
      tool: {
        name: 'explain_match',
        title: 'Explain a match, or why there was none',
        description:
          "For a post or comment seen in the last 30 days: where each term of the monitor's rule occurs, or the text nearest to it; which filters it passes; and what happened to it (which version of the rule was applied, whether it was recorded, or why not). Free.",
        annotations: READS,
        toText: explanationText,
      },
      handle: (request) => accountSlots.run(request.caller.accountId, () => explainItem(deps, semaphore, request)),
    }),
    route({
      method: 'post',
      path: '/v1/monitors/explain',
      scope: 'monitors:write',
      operationId: 'explainRule',
      tag: 'Monitors',
      summary: 'Explain whether a text matches a rule',
      description:
        'Tests a rule on a text; neither is stored. For each term: whether and where it occurs, and by which rule of matching; otherwise the nearest text and why that does not count. The same function decides as for live matching. Texts have at most 40,000 characters. Free.',
      body: { schema: explainBody },
      responses: [ok('The explanation. `history` is empty.', ruleExplanation)],
      tool: {
        name: 'explain_rule',
        title: 'Test a rule on a text',
        description:
          'Says whether a rule matches a text, term by term, with the nearest text for terms that do not occur. Stores nothing. Free.',
        annotations: READS,
        toText: explanationText,
      },
      handle: (request) => explainText(semaphore, request),
    }),
  ];
}

/** A rule that is not stored, and a text that a person pasted. */
async function explainText(
  semaphore: PacedSemaphore,
  { caller, body: { settings, item }, signal }: RouteRequest<unknown, z.output<typeof explainBody>>,
): Promise<RouteResponse> {
  const { body: text, author, language, ...rest } = item;
  const rule = unsavedRule(settings);
  const pasted = {
    ...rest,
    text,
    ...(author !== undefined && { author }),
    ...(language !== undefined && { language }),
  };
  const explanation = await semaphore.run(caller.accountId, () => Promise.resolve(explain(rule, pasted)), signal);
  return { status: 200, body: { ...explanationResource(explanation), history: [] } };
}

/** The fullname of what a person named. @throws ApiError invalid_request */
function thingIdOf(given: string, siteUrl: string): string {
  const named = parseReference(given, forumHosts(siteUrl));
  if (named === undefined || named.kind === 'share') {
    throw invalidRequest([
      { field: 'thing', message: 'must be the id (t3_… or t1_…) or the URL of a post or comment' },
    ]);
  }
  return named.kind === 'comment' ? `t1_${named.commentId}` : `t3_${named.postId}`;
}

/** @throws ApiError rate_limited */
async function takeExplanation({ pool }: ExplainDeps, accountId: string): Promise<void> {
  const retryAfter = await takeUse(pool, { name: `explain:${accountId}`, ...EXPLANATIONS_PER_DAY });
  if (retryAfter === 0) return;
  const message = `Posts and comments can be explained ${EXPLANATIONS_PER_DAY.maxUses} times in 24 hours. Try again later.`;
  throw new ApiError('rate_limited', message, { retryAfter });
}

/** Applies the monitor's current rule and mutes; the history tells what the rule of that time decided. */
async function explainItem(
  deps: ExplainDeps,
  semaphore: PacedSemaphore,
  { caller, id, query, signal }: RouteRequest<z.output<typeof explainQuery>>,
): Promise<RouteResponse> {
  const thingId = thingIdOf(query.thing, deps.siteUrl);
  const monitor = await findMonitor(deps.pool, caller.accountId, id);
  await takeExplanation(deps, caller.accountId);
  const found = await findItem(deps, id, thingId, signal);
  const mutes = await listMutes(deps.pool, id);
  const { item } = found;
  const explanation =
    item &&
    (await semaphore.run(caller.accountId, () => Promise.resolve(explain(ruleOf(monitor), item, mutes)), signal));
  const history = await historyOf(deps, monitor, found, explanation);
  if (found.content === undefined || explanation === undefined) {
    const nothing = { matched: null, terms: [], excludes: [], filters: [] };
    return { status: 200, body: { ...nothing, item: null, history } };
  }
  return {
    status: 200,
    body: { ...explanationResource(explanation), item: itemResource(found.content), history },
  };
}

interface ExplainDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  clock: Clock;
  /** The forum's public address, which URLs of posts begin with. */
  siteUrl: string;
}

/** How long a response waits for the archive, in milliseconds. */
const ARCHIVE_TIMEOUT_MS = 5_000;

/** A post or comment as it was first seen. Everything is undefined that is not known of it. */
interface FoundItem extends Omit<ItemInMonitor, 'content'> {
  /** Blank when the forum removed it. */
  content: ItemContent | undefined;
  /** What matching sees of it. */
  item: MatchItem | undefined;
  archived: Pick<ArchivedItem, 'source' | 'firstSeenAt'> | undefined;
}

/**
 * Finds an item in the archive, or else among the matches of monitors: the archive gets it a few seconds later.
 *
 * @throws ApiError internal_error with 503 when the archive is unavailable and nothing else is known of the item
 */
async function findItem(
  { pool, clickhouse }: Pick<ExplainDeps, 'pool' | 'clickhouse'>,
  monitorId: string,
  thingId: string,
  disconnected: AbortSignal | undefined,
): Promise<FoundItem> {
  const timeout = AbortSignal.timeout(ARCHIVE_TIMEOUT_MS);
  const signal = disconnected === undefined ? timeout : AbortSignal.any([disconnected, timeout]);
  const [stored, archived] = await Promise.all([
    readItemInMonitor(pool, monitorId, thingId),
    findArchivedItem(clickhouse, thingId, signal).catch((error: unknown) => {
      if (isArchiveUnavailable(error) || timeout.aborted) return 'unavailable' as const;
      throw error;
    }),
  ]);
  if (archived === 'unavailable' && stored.content === undefined) {
    throw engineUnavailable('The archive is not responding. Try again later.');
  }
  const known = archived === 'unavailable' ? undefined : archived;
  const found = known?.content ?? stored.content;
  const content = found && stored.removedAt !== undefined ? blankedContent(found) : found;
  return { ...stored, content, item: content && matchItem(content, known?.language), archived: known };
}

function matchItem(content: ItemContent, language: string | undefined): MatchItem {
  const { kind, title, body: text, subreddit, author, nsfw, post_id: postId } = content;
  return { kind, title, text, subreddit, author, nsfw, postId, ...(language !== undefined && { language }) };
}

function itemResource(content: ItemContent): NonNullable<ItemExplanation['item']> {
  const { thing_id, kind, subreddit, author, title, body, permalink, created_utc } = content;
  return { thing_id, kind, subreddit, author, title, body, permalink, created_utc };
}

/** What happened to an item in a monitor, oldest first. */
async function historyOf(
  { pool, clock }: Pick<ExplainDeps, 'pool' | 'clock'>,
  monitor: StoredMonitor,
  found: FoundItem,
  explanation: Explanation | undefined,
): Promise<HistoryEvent[]> {
  const { content, item, match, archived } = found;
  const firstSeenAt = archived === undefined ? match?.firstSeenAt : new Date(archived.firstSeenAt);
  const { versions, states } = await readMonitorHistory(pool, monitor.id);
  return itemHistory({
    item:
      content === undefined || firstSeenAt === undefined
        ? undefined
        : {
            createdMs: Date.parse(content.created_utc),
            firstSeenMs: firstSeenAt.getTime(),
            source: archived?.source,
          },
    removedMs: found.removedAt?.getTime(),
    recorded: match && {
      matchId: matchId(monitor.id, match.seq),
      enteredAt: match.enteredAt.toISOString(),
      createdAt: match.createdAt.toISOString(),
      suppressed: match.suppressed,
      suppressedReason: match.suppressedReason ?? undefined,
      backfill: match.backfill,
    },
    monitorCreatedMs: monitor.createdAt.getTime(),
    versions: versions.map(({ version, since }) => ({ version, sinceMs: since.getTime() })),
    states: states.map(({ at, status }) => ({ atMs: at.getTime(), status })),
    matchedThen: (wanted) => {
      const rule = versions.find(({ version }) => version === wanted)?.rule;
      return rule && item ? matchOne(rule, item) !== undefined : undefined;
    },
    isMuted: explanation?.mutedBy !== undefined,
    isOverCeiling: firstSeenAt !== undefined && (await hasUnstoredMatches(pool, monitor.id, firstSeenAt)),
    nowMs: clock(),
  });
}
