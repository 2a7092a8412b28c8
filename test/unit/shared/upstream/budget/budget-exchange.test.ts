import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { delay } from '../../../../../shared/runtime/clock.ts';
import type { Running } from '../../../../../shared/runtime/lifecycle.ts';
import type { ExchangedReport } from '../../../../../shared/upstream/budget/budget-exchange.ts';
import { startBudgetExchange } from '../../../../../shared/upstream/budget/budget-exchange.ts';
import type { ReceivedReport } from '../../../../../shared/upstream/budget/call-budget.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

/** The reports of all processes, in a database that takes half of `latencyMs` to store and as long to answer. */
class SlowTable {
  latencyMs = 10;
  maxConcurrent = 0;
  private concurrent = 0;
  private readonly rows = new Map<string, { report: unknown; at: number }>();

  exchange = async (own: ExchangedReport): Promise<{ report: unknown; ageMs: number }[]> => {
    this.maxConcurrent = Math.max(this.maxConcurrent, ++this.concurrent);
    try {
      if (this.latencyMs > own.timeoutMs) {
        await delay(own.timeoutMs);
        throw new Error('Query read timeout');
      }
      await delay(this.latencyMs / 2);
      const now = Date.now();
      this.rows.set(own.processId, { report: own.report, at: now });
      const found = [...this.rows].filter(([id, { at }]) => id !== own.processId && now - at < own.maxAgeMs);
      await delay(this.latencyMs / 2);
      return found.map(([, { report, at }]) => ({ report, ageMs: now - at }));
    } finally {
      this.concurrent -= 1;
    }
  };
}

describe('the exchange of budgets through a slow database', () => {
  let running: Running[];
  let received: ReceivedReport[][][];
  let table: SlowTable;

  beforeEach(() => {
    vi.useFakeTimers();
    running = [];
    received = [];
    table = new SlowTable();
  });
  afterEach(async () => {
    const stopped = Promise.all(running.map((one) => one.stop()));
    await vi.advanceTimersByTimeAsync(10_000);
    await stopped;
    vi.useRealTimers();
  });

  async function startProcess(live: number): Promise<void> {
    const own: ReceivedReport[][] = [];
    received.push(own);
    const budget = {
      report: () => ({ clients: {}, wanted: { live } }),
      receive: (reports: readonly ReceivedReport[]) => void own.push([...reports]),
    };
    const starting = startBudgetExchange({
      budget,
      exchange: table.exchange,
      clock: () => Date.now(),
      logger: silentLogger(),
    });
    await vi.advanceTimersByTimeAsync(table.latencyMs);
    running.push(await starting);
  }

  test.each([10, 2_500, 4_400])('shares the demand of two processes with answers after %i ms', async (latencyMs) => {
    table.latencyMs = latencyMs;
    await startProcess(1);
    await startProcess(2);
    await vi.advanceTimersByTimeAsync(20_000);
    for (const own of received) own.length = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(received.map((own) => own.length).every((exchanges) => exchanges >= 12)).toBe(true);
    const wanted = received.map((own) => own.map((reports) => reports.map((report) => report.wanted.live)));
    expect(new Set(wanted[0]?.map((live) => live.join()))).toEqual(new Set(['2']));
    expect(new Set(wanted[1]?.map((live) => live.join()))).toEqual(new Set(['1']));
    expect(table.maxConcurrent, 'one exchange of each process at a time').toBeLessThanOrEqual(2);
  });

  test('does not overlap exchanges of one process, and forgets a process that has ended', async () => {
    await startProcess(1);
    await startProcess(2);
    await vi.advanceTimersByTimeAsync(1_000);
    const stopped = running.pop()?.stop();
    await vi.advanceTimersByTimeAsync(11_000);
    await stopped;
    expect(received[0]?.at(-1)).toEqual([]);
    table.latencyMs = 60_000;
    table.maxConcurrent = 0;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(table.maxConcurrent).toBe(1);
  });
});
