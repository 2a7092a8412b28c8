import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import { delay } from '../runtime/clock.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import type { CallBudget, ReceivedReport } from './call-budget.ts';
import { LANES } from './lanes.ts';

/** An idle share waits half of this on average until another process borrows it. */
const INTERVAL_MS = 500;
/** One exchange ends before the next begins, so a slow one delays the next report by up to this time. */
const TIMEOUT_MS = 4_500;
/**
 * A process that did not report for this long has ended. The reports of a process come up to INTERVAL_MS + TIMEOUT_MS
 * apart, and reading them takes up to TIMEOUT_MS more.
 */
const MAX_AGE_MS = 10_000;

const perSecond = z.number().min(0);
const windowReport = z.object({
  limit: z.number(),
  left: z.number(),
  endsInMs: z.number(),
  blockedForMs: z.number(),
});
const budgetReport = z.object({
  clients: z.record(z.string(), windowReport.nullable()),
  wanted: z.partialRecord(z.enum(LANES), perSecond),
});

export interface ExchangedReport {
  processId: string;
  report: unknown;
  maxAgeMs: number;
  timeoutMs: number;
}

export interface BudgetExchangeDeps {
  budget: Pick<CallBudget, 'report' | 'receive'>;
  /** Stores this process's report for the others, and returns their reports. */
  exchange: (own: ExchangedReport) => Promise<{ report: unknown; ageMs: number }[]>;
  clock: Clock;
  logger: Logger;
}

/**
 * Reports the demand of this process, and its view of the forum's budget, to the other processes of the installation
 * twice a second, and receives theirs. No call waits for it: while the database is unavailable each process uses the
 * last reports. Resolves after the first exchange, even if it failed.
 */
export async function startBudgetExchange(options: BudgetExchangeDeps): Promise<Running> {
  const { budget, exchange, clock } = options;
  const logger = options.logger.child({ part: 'budget' });
  const processId = randomUUID();
  const stopping = new AbortController();
  let isFailing = false;
  const exchangeOnce = async (): Promise<void> => {
    try {
      const report = budget.report(clock());
      const found = await exchange({ processId, report, maxAgeMs: MAX_AGE_MS, timeoutMs: TIMEOUT_MS });
      budget.receive(found.flatMap(readReport), clock());
      if (isFailing) logger.info('the call budget is exchanged with the other processes again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn({ err: error }, 'the call budget cannot be exchanged; the last reports are used');
      isFailing = true;
    }
  };
  const loop = async (): Promise<void> => {
    for (;;) {
      await delay(INTERVAL_MS, stopping.signal);
      if (stopping.signal.aborted) return;
      await exchangeOnce();
    }
  };
  await exchangeOnce();
  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Ignores a report that another version wrote in another shape. */
function readReport({ report, ageMs }: { report: unknown; ageMs: number }): ReceivedReport[] {
  const read = budgetReport.safeParse(report);
  return read.success ? [{ ...read.data, ageMs }] : [];
}
