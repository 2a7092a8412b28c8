import { addForumCalls, exchangeReports } from '../shared/crawl/forum-calls.ts';
import { createPool, withQueryDeadline } from '../shared/postgres/pool.ts';
import { createSteadyClock } from '../shared/runtime/clock.ts';
import { startBudgetExchange } from '../shared/forum-client/budget-exchange.ts';
import { startCallRecorder } from '../shared/forum-client/call-counts.ts';
import type { CountedCalls } from '../shared/forum-client/call-counts.ts';
import { withSweepShares } from '../shared/forum-client/lanes.ts';
import { createUpstream } from '../shared/forum-client/upstream-client.ts';
import type { BudgetedUpstream } from '../shared/forum-client/upstream-client.ts';
import type { Installation } from './connect-engines.ts';

/** A stop waits this long for Postgres to take the last counts. */
const RECORDING_MS = 3_000;

/**
 * The forum's client of this process.
 *
 * @param options.callsForum such processes exchange what they used of the forum's budget, to stay within it together
 */
export async function connectUpstream(
  { config, postgresUrl, metrics, logger, lifecycle }: Installation,
  { callsForum }: { callsForum: boolean },
): Promise<BudgetedUpstream> {
  const { clients = [], url, tokenUrl, userAgent } = config.upstream;
  const clock = createSteadyClock();
  const shares = withSweepShares(config.upstream.shares);
  const upstream = createUpstream({ url, tokenUrl, userAgent, clients, shares, clock, metrics, logger });
  lifecycle.onStop('upstream', () => upstream.stop());
  if (!callsForum) return upstream;
  // A separate connection: budget reports must not wait for a connection of a pool that is used up.
  const db = createPool({ url: postgresUrl, name: 'forum-monitor-budget', logger, max: 1 });
  lifecycle.onStop('budget connection', () => db.end());
  const exchange = await startBudgetExchange({
    budget: upstream.budget,
    exchange: (own) => exchangeReports(db, own),
    clock,
    logger,
  });
  lifecycle.add('budget', exchange);
  const recording = withQueryDeadline(db, RECORDING_MS);
  const add = (calls: CountedCalls[]) => addForumCalls(recording, calls);
  lifecycle.add('counted calls', startCallRecorder({ counts: upstream.budget.counts, add, logger }));
  return upstream;
}
