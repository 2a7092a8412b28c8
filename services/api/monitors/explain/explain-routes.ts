import { explainBody, explainQuery } from '../../../../schemas/api/monitors/explain.ts';
import { forumHosts, parseReference } from '../../../../shared/domain/forum-reference.ts';
import { explain } from '../../../../shared/matching/explain.ts';
import { ruleOf } from '../../../../shared/stores/monitors/monitors.ts';
import { listMutes } from '../../../../shared/stores/monitors/monitor-mutes.ts';
import { takeUse } from '../../../../shared/stores/accounts/sliding-log-limits.ts';
import { freeWorkSlots, PacedTurns } from '../../http/account-slots.ts';
import { ApiError } from '../../http/api-error.ts';
import { invalidRequest, parseRequest } from '../../http/invalid-request.ts';
import type { Answer, Call, Route } from '../../http/route.ts';
import { findMonitor } from '../find-monitor.ts';
import { unsavedRule } from '../unsaved-rule.ts';
import type { ExplainDeps } from './explain-deps.ts';
import { explanationResource } from './explanation-resource.ts';
import { findThing, itemResource } from './find-thing.ts';
import { historyOf } from './history-of-thing.ts';

/**
 * The answer has the text of the thing, whose reading costs credits elsewhere, and looking for one that nobody saw
 * costs the archive as much: enough for people and their tools.
 */
const THINGS_PER_DAY = { maxUses: 500, seconds: 86_400 };

/**
 * Why something matches a rule or does not, and what happened to it in a monitor. Free, so the long texts of many
 * accounts are explained one after the other, with rests: a text of 40,000 characters takes a tenth of a second.
 */
export function explainRoutes(deps: ExplainDeps): Route[] {
  const turns = new PacedTurns('explanations');
  const ofAccounts = freeWorkSlots('explanations');
  return [
    // Before the routes with an id in its place.
    {
      method: 'post',
      path: '/v1/monitors/explain',
      scope: 'monitors:write',
      readsBody: true,
      handle: (call) => explainText(turns, call),
    },
    {
      method: 'get',
      path: '/v1/monitors/:id/explain',
      scope: 'monitors:read',
      readsQuery: true,
      handle: (call) => ofAccounts.run(call.caller.accountId, () => explainThing(deps, turns, call)),
    },
  ];
}

/** A rule that is not stored, and a text that a person pasted. */
async function explainText(turns: PacedTurns, { caller, body, signal }: Call): Promise<Answer> {
  const { settings, item } = parseRequest(explainBody, body === undefined ? {} : body, 'body');
  const { body: text, author, language, ...rest } = item;
  const rule = unsavedRule(settings);
  const pasted = {
    ...rest,
    text,
    ...(author !== undefined && { author }),
    ...(language !== undefined && { language }),
  };
  const explanation = await turns.take(caller.accountId, () => Promise.resolve(explain(rule, pasted)), signal);
  return { status: 200, body: { ...explanationResource(explanation), history: [] } };
}

/** The fullname of what a person named. @throws ApiError invalid_request */
function namedThing(given: string, siteUrl: string): string {
  const named = parseReference(given, forumHosts(siteUrl));
  if (named === undefined || named.kind === 'share') {
    throw invalidRequest([
      { field: 'thing', message: 'must be the id (t3_… or t1_…) or the URL of a post or comment' },
    ]);
  }
  return named.kind === 'comment' ? `t1_${named.commentId}` : `t3_${named.postId}`;
}

/** @throws ApiError rate_limited */
async function takeThing({ pool }: ExplainDeps, accountId: string): Promise<void> {
  const retryAfter = await takeUse(pool, { name: `explain:${accountId}`, ...THINGS_PER_DAY });
  if (retryAfter === 0) return;
  const message = `Posts and comments can be explained ${THINGS_PER_DAY.maxUses} times in 24 hours.`;
  throw new ApiError('rate_limited', message, { retryAfter });
}

/** A thing that was seen, by the monitor's rule of now, with its mutes; the history tells of the rule of then. */
async function explainThing(
  deps: ExplainDeps,
  turns: PacedTurns,
  { caller, id, query, signal }: Call,
): Promise<Answer> {
  const thingId = namedThing(parseRequest(explainQuery, query, 'query').thing, deps.siteUrl);
  const monitor = await findMonitor(deps.pool, caller.accountId, id);
  await takeThing(deps, caller.accountId);
  const thing = await findThing(deps, id, thingId, signal);
  const mutes = await listMutes(deps.pool, id);
  const { item } = thing;
  const explanation =
    item && (await turns.take(caller.accountId, () => Promise.resolve(explain(ruleOf(monitor), item, mutes)), signal));
  const history = await historyOf(deps, monitor, thing, explanation);
  if (thing.content === undefined || explanation === undefined) {
    const nothing = { matched: null, terms: [], excludes: [], filters: [] };
    return { status: 200, body: { ...nothing, item: null, history } };
  }
  return {
    status: 200,
    body: { ...explanationResource(explanation), item: itemResource(thing.content), history },
  };
}
