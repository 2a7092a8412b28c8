import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import { delay } from '../../runtime/clock.ts';
import type { Running } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CallBudget, ReceivedReport } from './call-budget.ts';
import { LANES } from './lanes.ts';

/** Half of it is what an idle share waits on average until another process borrows it. */
const INTERVAL_MS = 500;
/** A process that was not heard of for so long has ended. */
const MAX_AGE_MS = 5_000;
const TIMEOUT_MS = 2_000;

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
  /** Leaves this process's report for the others, and returns what they left. */
  exchange: (own: ExchangedReport) => Promise<{ report: unknown; age_ms: number }[]>;
  clock: Clock;
  logger: Logger;
}

/**
 * Tells the other processes of the installation twice a second what this one wants and knows of the forum's budget, and
 * hears the same of them. No call waits for it: while the database is away each process uses the last reports. Resolves
 * after the first exchange, whatever came of it.
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
      if (isFailing) logger.info('the budget is shared with the other processes again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn({ err: error }, 'the budget is not exchanged, the last shares stay');
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

/** A report that another version wrote in another shape says nothing. */
function readReport({ report, age_ms: ageMs }: { report: unknown; age_ms: number }): ReceivedReport[] {
  const read = budgetReport.safeParse(report);
  return read.success ? [{ ...read.data, ageMs }] : [];
}
