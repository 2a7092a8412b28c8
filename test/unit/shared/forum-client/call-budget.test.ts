import { describe, expect, test } from 'vitest';
import { CallBudget } from '../../../../shared/forum-client/call-budget.ts';
import type { Claim } from '../../../../shared/forum-client/call-budget.ts';
import { DEFAULT_SHARES } from '../../../../shared/forum-client/lanes.ts';

const CALLS = 1_000;
const WINDOW_MS = 600_000;
const ROUND_TRIP_MS = 400;
const TICK_MS = 50;

/** The forum's side of some clients: a thousand calls in ten minutes each, reported in headers. */
class Forum {
  refused = 0;
  private readonly used = new Map<string, number>();

  answer(name: string, now: number): { remaining: string; used: string; reset: string } {
    const window = Math.floor(now / WINDOW_MS);
    const key = `${name} ${window}`;
    const used = (this.used.get(key) ?? 0) + 1;
    this.used.set(key, used);
    if (used > CALLS) this.refused += 1;
    const reset = String(Math.ceil(((window + 1) * WINDOW_MS - now) / 1000));
    return { remaining: `${CALLS - used}.0`, used: String(used), reset };
  }
}

interface Caller {
  process: number;
  claim: Claim;
  /** Calls that it would make a second, over time. */
  perSecond: (now: number) => number;
}

/**
 * Processes that share one forum, in simulated time. Reports are exchanged every half second while the database is up.
 */
class Installation {
  now = 0;
  readonly made = new Map<Caller, number[]>();
  readonly refusals = new Map<Caller, number>();
  isDatabaseUnavailable = false;
  readonly forum = new Forum();
  private readonly names = ['a', 'b', 'c', 'd'];
  readonly processes: CallBudget[];
  private readonly owed = new Map<Caller, number>();
  private readonly underWay: { endsAt: number; end: () => void }[] = [];

  constructor(processes: number) {
    this.processes = Array.from({ length: processes }, () => new CallBudget(this.names, DEFAULT_SHARES));
  }

  run(callers: readonly Caller[], ms: number): void {
    for (const end = this.now + ms; this.now < end; this.now += TICK_MS) {
      for (const call of this.underWay.splice(0)) {
        if (call.endsAt <= this.now) call.end();
        else this.underWay.push(call);
      }
      if (this.now % 500 === 0 && !this.isDatabaseUnavailable) this.exchange();
      for (const caller of callers) this.callAsOwed(caller);
    }
  }

  /** Calls a second of a caller between two times. */
  rate(caller: Caller, from: number, to: number): number {
    const made = this.made.get(caller)?.filter((at) => at >= from && at < to) ?? [];
    return (made.length * 1000) / (to - from);
  }

  private exchange(): void {
    const reports = this.processes.map((process) => ({ ...process.report(this.now), ageMs: 0 }));
    for (const [index, process] of this.processes.entries()) {
      process.receive(
        reports.filter((_, other) => other !== index),
        this.now,
      );
    }
  }

  private callAsOwed(caller: Caller): void {
    const owed = (this.owed.get(caller) ?? 0) + (caller.perSecond(this.now) * TICK_MS) / 1000;
    this.owed.set(caller, owed % 1);
    for (let call = 0; call < Math.floor(owed); call++) this.call(caller);
  }

  private call(caller: Caller): void {
    const process = this.processes[caller.process]!;
    const { client } = process.take(caller.claim, this.now);
    if (client === undefined) {
      this.refusals.set(caller, (this.refusals.get(caller) ?? 0) + 1);
      return;
    }
    const made = this.made.get(caller) ?? [];
    made.push(this.now);
    this.made.set(caller, made);
    const headers = this.forum.answer(this.names[client]!, this.now);
    this.underWay.push({
      endsAt: this.now + ROUND_TRIP_MS,
      end: () => process.settle(client, caller.claim, headers, this.now),
    });
  }
}

const TOTAL = (4 * CALLS * 1000) / WINDOW_MS;
const MINUTE = 60_000;
const live = (perSecond: (now: number) => number): Caller => ({ process: 0, claim: { lane: 'live' }, perSecond });
const reader = (process: number, perSecond: number, payer?: string, weight = 1): Caller => ({
  process,
  claim: { lane: 'reading', payer: payer === undefined ? undefined : { id: payer, weight } },
  perSecond: () => perSecond,
});

describe('crawler and API in two processes', () => {
  test('no live call waits while readers make twenty calls a second over several windows', () => {
    const installation = new Installation(2);
    const crawler = live(() => 2.6);
    const readers = reader(1, 20);
    installation.run([crawler, readers], 11 * MINUTE);
    expect(installation.refusals.get(crawler)).toBeUndefined();
    expect(installation.forum.refused).toBe(0);
    const readPerSecond = installation.rate(readers, 0, 11 * MINUTE);
    expect(readPerSecond).toBeGreaterThanOrEqual((TOTAL - 2.6) * 0.9);
  });

  test('unused live budget is lent to readers within a second and returned within a second', () => {
    const installation = new Installation(2);
    const crawler = live((now) => (now < 5 * MINUTE || now >= 6 * MINUTE ? 3.5 : 0));
    const readers = reader(1, 20);
    installation.run([crawler, readers], 7 * MINUTE);
    const after = (minutes: number) => installation.rate(readers, minutes * MINUTE + 1_000, minutes * MINUTE + 21_000);
    expect(after(4)).toBeLessThan(TOTAL - 3);
    expect(after(5)).toBeGreaterThan(TOTAL * 0.95);
    expect(after(6)).toBeLessThan(TOTAL - 2.5);
    expect(installation.refusals.get(crawler)).toBeUndefined();
  });

  test('five idle readers that all start at once, late in a window, leave live sources their share', () => {
    const burstAt = 590;
    const installation = new Installation(6);
    const crawler = live(() => 4);
    const bursting = Array.from({ length: 5 }, (_, index): Caller => ({
      ...reader(index + 1, 0),
      perSecond: (now) => (now >= burstAt * 1000 ? 60 : 0),
    }));
    const earlier: Caller = { ...reader(1, 0), perSecond: (now) => (now < 500_000 ? 20 : 0) };
    installation.run([crawler, earlier, ...bursting], 10 * MINUTE);
    expect(installation.rate(crawler, burstAt * 1000, 10 * MINUTE)).toBeGreaterThan(4 * 0.85);
    expect(installation.forum.refused).toBeLessThan(5);
  });

  test('the last shares stay while the database is unavailable', () => {
    const installation = new Installation(2);
    const crawler = live(() => 2.6);
    const readers = reader(1, 20);
    installation.run([crawler, readers], MINUTE);
    installation.isDatabaseUnavailable = true;
    installation.run([crawler, readers], 8 * MINUTE);
    expect(installation.refusals.get(crawler)).toBeUndefined();
    expect(installation.rate(readers, MINUTE, 9 * MINUTE)).toBeGreaterThan(2.5);
  });
});

describe('readers', () => {
  test('a paying account keeps its weighted share beside a hundred free accounts with equal shares', () => {
    const installation = new Installation(1);
    const paying = reader(0, 20, 'paying', 20);
    const free = Array.from({ length: 100 }, (_, at) => reader(0, 1, `free ${at}`));
    installation.run([live(() => 4), paying, ...free], 10 * MINUTE);
    const rateOf = (caller: Caller) => installation.rate(caller, MINUTE, 10 * MINUTE);
    const others = free.reduce((sum, caller) => sum + rateOf(caller), 0);
    // 20 of 120 parts, less the rounding in the buckets of a hundred payers.
    expect(rateOf(paying)).toBeGreaterThan(0.12 * (others + rateOf(paying)));
    expect(others).toBeGreaterThan(rateOf(paying));
  });

  test("have a limit of calls in flight while the forum's limits are unknown", () => {
    const budget = new CallBudget(['a'], DEFAULT_SHARES);
    const taken = Array.from({ length: 1_000 }, () => budget.take({ lane: 'reading' }, 0));
    expect(taken.filter(({ client }) => client !== undefined)).toHaveLength(128);
    expect(taken.at(-1)).toEqual({ client: undefined, waitMs: 500 });
  });
});

describe('a call that another client makes', () => {
  const lane = { lane: 'reading' } as const;

  test('is refused until the first client becomes free', () => {
    const budget = new CallBudget(['a', 'b'], DEFAULT_SHARES);
    const first = budget.take(lane, 0).client!;
    budget.choice.pause(first, 60_000, 0);
    budget.choice.pause(1 - first, 9_000, 0);
    expect(budget.takeFromAnother(lane, new Set([first]), 0)).toEqual({ client: undefined, waitMs: 9_000 });
  });
});
