import type { PartStatus, ServiceStatus } from '../../../schemas/api/status.ts';
import { CLOCK_TOLERANCE_MS } from '../../../shared/domain/recording-decision.ts';
import type { DueDeliveries } from '../../../shared/stores/deliveries/due-deliveries.ts';

/** What was measured; undefined where it could not be. */
export interface Measurements {
  /** Whether the service works, and which parts answer. */
  readiness: { ready: boolean; parts: Record<string, boolean> } | undefined;
  /** Milliseconds since the newest archived item of the forum was first seen; null: none in the last day. */
  newestItemAgeMs: number | null | undefined;
  /** Records that wait, by the stage that reads them. */
  lag: Record<string, number> | undefined;
  deliveries: DueDeliveries | undefined;
  /** By how many milliseconds the clocks of the engines differ; null: not compared in the last minutes. */
  clockSkewMs: number | null | undefined;
}

type Parts = ServiceStatus['parts'];

/** Items older than this are not up to date: a forum is never quiet for so long. */
const ITEM_AGE_MS = { degraded: 60_000, down: 600_000 };
/** At the average rate of a large forum a minute and an hour of its items. */
const LAG = { degraded: 10_000, down: 500_000 };
/** Only while no delivery is under way: one slow endpoint says nothing about the service. */
const DUE_MS = { degraded: 60_000, down: 900_000 };

/** Judges what was measured at `now` (milliseconds since 1970). */
export function statusReport(measured: Measurements, now: number): ServiceStatus {
  const parts: Parts = {
    services: servicesPart(measured.readiness),
    items: itemsPart(measured.newestItemAgeMs),
    processing: processingPart(measured.lag),
    deliveries: deliveriesPart(measured.deliveries),
    clocks: clocksPart(measured.clockSkewMs),
  };
  const found = Object.values(parts).map(({ status }) => status);
  const status = found.includes('down') ? 'down' : found.every((one) => one === 'ok') ? 'ok' : 'degraded';
  return { status, checked_at: new Date(now).toISOString(), parts };
}

function servicesPart(readiness: Measurements['readiness']): Parts['services'] {
  if (readiness === undefined) return { status: 'unknown', message: 'The parts of the service could not be checked.' };
  const silent = Object.entries(readiness.parts).flatMap(([part, answers]) => (answers ? [] : [part]));
  const status: PartStatus = readiness.ready ? (silent.length === 0 ? 'ok' : 'degraded') : 'down';
  if (status === 'ok') return { status, message: 'All parts of the service answer.' };
  return { status, message: silent.length === 0 ? 'The service is starting.' : `No answer from ${silent.join(', ')}.` };
}

function itemsPart(ageMs: Measurements['newestItemAgeMs']): Parts['items'] {
  if (ageMs === undefined) {
    return { status: 'unknown', message: 'The archive of items does not answer.', newest_age_seconds: null };
  }
  if (ageMs === null) return { status: 'down', message: 'No item was seen in the last day.', newest_age_seconds: null };
  const newest = seconds(ageMs);
  return {
    status: judge(ageMs, ITEM_AGE_MS),
    message: `The newest item was seen ${newest} s ago.`,
    newest_age_seconds: newest,
  };
}

function processingPart(lag: Measurements['lag']): Parts['processing'] {
  if (lag === undefined) return { status: 'unknown', message: 'The topics do not answer.', waiting_records: null };
  const [stage, most] = Object.entries(lag).reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
  const status = judge(most, LAG);
  const message = status === 'ok' ? 'Every stage is up to date.' : `${most} records wait for ${stage}.`;
  return { status, message, waiting_records: lag };
}

function deliveriesPart(deliveries: Measurements['deliveries']): Parts['deliveries'] {
  if (deliveries === undefined) {
    return { status: 'unknown', message: 'The database does not answer.', due: null, oldest_due_seconds: null };
  }
  const { due, oldestMs, underWay } = deliveries;
  if (oldestMs === null) return { status: 'ok', message: 'No delivery is due.', due, oldest_due_seconds: null };
  const oldest = seconds(oldestMs);
  return {
    status: underWay > 0 ? 'ok' : judge(oldestMs, DUE_MS),
    message: `Deliveries due: ${due}, the oldest for ${oldest} s.`,
    due,
    oldest_due_seconds: oldest,
  };
}

function clocksPart(skewMs: Measurements['clockSkewMs']): Parts['clocks'] {
  if (skewMs === undefined) return { status: 'unknown', message: 'The database does not answer.', skew_seconds: null };
  if (skewMs === null) {
    return { status: 'ok', message: 'The clocks were not compared: no item was published lately.', skew_seconds: null };
  }
  const skew_seconds = skewMs / 1_000;
  if (Math.abs(skewMs) <= CLOCK_TOLERANCE_MS) return { status: 'ok', message: 'The clocks agree.', skew_seconds };
  return { status: 'degraded', message: `The clocks differ by ${Math.abs(skew_seconds)} s.`, skew_seconds };
}

function judge(value: number, limit: { degraded: number; down: number }): PartStatus {
  if (value > limit.down) return 'down';
  return value > limit.degraded ? 'degraded' : 'ok';
}

/** To a tenth. */
function seconds(ms: number): number {
  return Math.max(0, Math.round(ms / 100) / 10);
}
