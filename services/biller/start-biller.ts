import type { Stripe } from 'stripe';
import { countPaymentsFromZero } from '../../shared/billing/apply-event.ts';
import { secondsUntilTomorrow } from '../../shared/billing/ledger-check.ts';
import type { PaymentSettings } from '../../shared/billing/stripe.ts';
import { reverseUnknownCharges } from '../../shared/billing/unknown-charges.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Mailer } from '../../shared/mail/mailer.ts';
import { countOpenErasures } from '../../shared/maintenance/erasure.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { SecretBox } from '../../shared/rules/secret-box.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { copyTables } from './copy-tables.ts';
import { mailDigests, makeDueDigests } from './digests.ts';
import { advanceErasures } from './erase-accounts.ts';
import { findRecentSpikes } from './find-spikes.ts';
import { InstallationReport } from './installation-report.ts';
import { runJob } from './jobs.ts';
import type { Job } from './jobs.ts';
import { mailNewMatches } from './match-mails.ts';
import { createNoticeJob, mailNotices } from './notices.ts';
import { checkLedger, createReconciliation, modesToVoid, voidPayments } from './reconciliation.ts';
import { runRenewalPass } from './renewal-pass.ts';
import { sweepRetention } from './retention-sweep.ts';

/** What the comparison with the payment provider needs. */
export interface BillerPayments {
  stripe: Stripe;
  settings: Pick<PaymentSettings, 'mode'>;
  clock: Clock;
}

export interface BillerDeps {
  pool: Pool;
  /** Used only to read how far the topics are archived. */
  kafka: KafkaConnection;
  prefix: string;
  clickhouse: ClickHouseClient;
  mailer: Mailer;
  /** For links in mails, without a trailing slash. */
  dashboardUrl: string;
  /** Seals links in mails. */
  secretBox: Pick<SecretBox, 'seal'>;
  metrics: Metrics;
  logger: Logger;
  /** Default: packs cannot be bought. */
  payments?: BillerPayments | undefined;
  /** Default: true. */
  hasSimulatedForum?: boolean;
  fatal: (error: Error) => void;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR_SECONDS = 3_600;
/** All rows are compared this often. */
const FULL_COPY_MS = 10 * MINUTE;
const REVERSED_AT_ONCE = 100;

/** Does the jobs of `billerJobs`, each in a loop of its own. */
export function startBiller(deps: BillerDeps): Running {
  const stopping = new AbortController();
  const jobDeps = { ...deps, logger: deps.logger.child({ service: 'biller' }), signal: stopping.signal };
  const loops = Object.entries(billerJobs(jobDeps)).map(([work, job]) => runJob(jobDeps, work, job));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

/** Their names are values of the label `work` of metrics: dashboards and alerts use them. */
export function billerJobs(deps: Omit<BillerDeps, 'fatal'> & { signal: AbortSignal }): Record<string, Job> {
  const { pool, logger, signal, payments, metrics } = deps;
  const report = new InstallationReport(metrics);
  const modes = modesToVoid({ mode: payments?.settings.mode, hasSimulatedForum: deps.hasSimulatedForum ?? true });
  if (payments) countPaymentsFromZero(metrics);
  let fullCopyAt = Number.NEGATIVE_INFINITY;
  return {
    // The next pass follows at once while there are monitors to renew.
    renewing: { everyMs: SECOND, run: async () => ((await runRenewalPass(deps)) > 0 ? 0 : undefined) },
    'reversing charges': {
      everyMs: 5 * SECOND,
      // Reads that were answered 503, because the commit of their charge got no answer.
      async run() {
        for (const { accountId, kind, reference } of await reverseUnknownCharges(pool, REVERSED_AT_ONCE)) {
          logger.info({ account_id: accountId, kind, reference }, 'a charge was reversed');
        }
      },
    },
    'deleting what is old': {
      everyMs: 10 * MINUTE,
      lease: 'retention',
      run: (mayContinue) => sweepRetention({ ...deps, mayContinue }),
    },
    'erasing accounts': {
      everyMs: 5 * SECOND,
      lease: 'erasures',
      async run(mayContinue) {
        const open = await countOpenErasures(pool);
        metrics.erasuresOpen.set(open);
        if (open > 0) await advanceErasures({ ...deps, mayContinue });
      },
      elsewhere: () => metrics.erasuresOpen.remove(),
    },
    'checking the ledger': {
      everyMs: 10 * MINUTE,
      lease: 'ledger-check',
      restSeconds: 24 * HOUR_SECONDS,
      run: async (mayContinue) =>
        (await checkLedger({ ...deps, mayContinue })) && (await secondsUntilTomorrow(pool)) * 1_000,
    },
    'counting for metrics': {
      // Metrics are usually read every 15 s.
      everyMs: 15 * SECOND,
      lease: 'installation-report',
      run: () => report.update(pool),
      elsewhere: () => report.withdraw(),
    },
    'copying monitors and gaps': {
      everyMs: 5 * SECOND,
      lease: 'archive-copies',
      async run(mayContinue) {
        const now = performance.now();
        const isFull = now - fullCopyAt >= FULL_COPY_MS;
        const isComplete = await copyTables({ ...deps, mayContinue }, { isFull });
        if (isFull && isComplete) fullCopyAt = now;
      },
    },
    'voiding purchases without money': {
      everyMs: 10 * MINUTE,
      lease: 'voiding-payments',
      run: (mayContinue) => voidPayments({ ...deps, mayContinue }, modes),
    },
    ...(payments && {
      'comparing payments': {
        everyMs: 5 * MINUTE,
        lease: 'payment-reconciliation',
        restSeconds: HOUR_SECONDS,
        run: createReconciliation({ ...deps, ...payments }),
      },
    }),
    'looking for notices': {
      everyMs: 5 * SECOND,
      lease: 'notices',
      run: createNoticeJob(deps),
      elsewhere: () => metrics.noticesWaiting.remove(),
    },
    'looking for spikes': {
      everyMs: MINUTE,
      lease: 'spikes',
      restSeconds: HOUR_SECONDS,
      run: (mayContinue) => findRecentSpikes({ ...deps, mayContinue }),
    },
    'mailing notices': {
      everyMs: 2 * SECOND,
      run: async () => ((await mailNotices(deps, signal)) > 0 ? 0 : undefined),
    },
    'making digests': {
      everyMs: 5 * SECOND,
      lease: 'digests',
      run: (mayContinue) => makeDueDigests({ ...deps, mayContinue }),
    },
    'mailing digests': {
      everyMs: 2 * SECOND,
      run: async () => ((await mailDigests(deps, signal)) > 0 ? 0 : undefined),
    },
    'mailing matches': {
      everyMs: 2 * SECOND,
      run: async () => ((await mailNewMatches(deps, signal)) > 0 ? 0 : undefined),
    },
  };
}
