import { latencyQuery } from '../../../../schemas/api/trends.ts';
import type { Latency, LatencyDay, Quantiles } from '../../../../schemas/api/trends.ts';
import { measureLatency } from '../../../../shared/stores/deliveries/archived-latency.ts';
import type { StepOfDay } from '../../../../shared/stores/deliveries/archived-latency.ts';
import { parseRequest } from '../../http/invalid-request.ts';
import type { Answer, Call } from '../../http/route.ts';
import { findMonitor } from '../find-monitor.ts';
import type { ArchiveTurns } from './trend-routes.ts';
import type { TrendDeps } from './trend-deps.ts';

const DAY_MS = 86_400_000;

/** Answers GET /v1/monitors/{id}/latency: how long each step of a monitor's matches took, by day. */
export async function showLatency(deps: TrendDeps, turns: ArchiveTurns, call: Call): Promise<Answer> {
  const { days } = parseRequest(latencyQuery, call.query, 'query');
  const now = deps.clock();
  await findMonitor(deps.pool, call.caller.accountId, call.id);
  const from = (Math.floor(now / DAY_MS) - days + 1) * DAY_MS;
  const steps = await turns(call, (signal) => measureLatency(deps.clickhouse, { monitorId: call.id, from, signal }));
  const body: Latency = { as_of: new Date(now).toISOString(), items: daysOf(steps) };
  return { status: 200, body };
}

/** The days with any measurement, the newest first. */
function daysOf(steps: readonly StepOfDay[]): LatencyDay[] {
  const days = [...new Set(steps.map(({ day }) => day))].sort().toReversed();
  return days.map((day) => {
    const of = (step: StepOfDay['step']): Quantiles | null => {
      const found = steps.find((measured) => measured.day === day && measured.step === step);
      return found ? { count: found.count, p50: found.p50, p90: found.p90, p99: found.p99 } : null;
    };
    return {
      day,
      created_to_seen_ms: of('created_to_seen'),
      seen_to_recorded_ms: of('seen_to_recorded'),
      recorded_to_delivered_ms: of('recorded_to_delivered'),
      receiver_ms: of('receiver'),
    };
  });
}
