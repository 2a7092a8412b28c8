import { Stripe } from 'stripe';
import { ZodError } from 'zod';
import { lockAccount } from '../../shared/accounts/accounts.ts';
import { APPLIED_EVENTS, applyEvent, applySession, logApplied } from '../../shared/billing/apply-event.ts';
import type { Applied } from '../../shared/billing/apply-event.ts';
import { checkLedgers } from '../../shared/billing/ledger-check.ts';
import type { ComparedLedger } from '../../shared/billing/ledger-check.ts';
import { refundPack } from '../../shared/billing/packs.ts';
import {
  findAppliedEvents,
  findPaidSessions,
  listPaymentsWithoutMoney,
  markVoided,
} from '../../shared/billing/payments.ts';
import type { PaymentMode, PaymentWithoutMoney } from '../../shared/billing/payments.ts';
import { checkoutSession, paymentEvent } from '../../shared/billing/stripe.ts';
import { storeLedgerMismatches } from '../../shared/maintenance/settings.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import type { Continuing, Job } from './jobs.ts';
import type { BillerDeps, BillerPayments } from './start-biller.ts';

type LedgerCheckDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger'> & Continuing;

/**
 * Compares every account's balance with its ledger. Differences are logged and counted, never repaired: an operator
 * must investigate them (`admin ledger correct`).
 *
 * @returns false when it was stopped before the end
 */
export async function checkLedger(options: LedgerCheckDeps): Promise<boolean> {
  const { pool, metrics, logger, mayContinue } = options;
  let found = 0;
  for await (const { mismatches, lastId, tooLong } of checkLedgers(pool)) {
    if (!(await mayContinue())) return false;
    if (tooLong !== undefined)
      logger.error(
        { err: tooLong, account_id: lastId },
        'the ledger of an account is too long to compare with its balance',
      );
    for (const mismatch of mismatches)
      logger.error(logFields(mismatch), 'the balance of an account differs from its ledger');
    found += mismatches.length;
  }
  metrics.ledgerMismatches.set(found);
  await storeLedgerMismatches(pool, found);
  logger.info({ mismatches: found }, 'the ledger was compared with the balances');
  return true;
}

function logFields(mismatch: ComparedLedger): object {
  return {
    account_id: mismatch.accountId,
    balance: mismatch.balance,
    sum: mismatch.sum,
    broken_entries: mismatch.brokenEntries,
    first_broken_id: mismatch.firstBrokenId,
  };
}

const INTERVAL_MS = 60 * 60_000;
const RETRY_MS = 60_000;
/** As long as Stripe repeats an event whose delivery fails. */
const PERIOD_S = 3 * 24 * 60 * 60;
/** The delivery of a younger event may be under way. */
const UNDER_WAY_S = 10 * 60;
const PER_PAGE = 100;

type ReconciliationDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger'> & BillerPayments & Continuing;

/** One of the provider's lists, and what to do with what it holds. */
interface Comparison<T extends { id: string }> {
  /** Begins to read: the client sends the first request at once, and a list that nobody reads would fail unseen. */
  list: () => AsyncIterable<T>;
  /** Of these ids, those whose effect is in the ledger. */
  findApplied: (db: Queryable, ids: readonly string[]) => Promise<Set<string>>;
  apply: (listed: T) => Promise<void>;
}

/**
 * Compares payments with the provider once an hour, in one process. While the provider does not answer, the comparison
 * is tried again every minute; the log has one line when that begins and one when it ends.
 */
export function createReconciliation(deps: Omit<ReconciliationDeps, 'mayContinue'>): Job['run'] {
  const { logger } = deps;
  let isFailing = false;
  return async (mayContinue) => {
    try {
      if (!(await reconcilePayments({ ...deps, mayContinue }))) return false;
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeError)) throw error;
      if (!isFailing) logger.warn(faultOf(error), 'payments cannot be compared with the provider; it will be retried');
      isFailing = true;
      return RETRY_MS;
    }
    if (isFailing) logger.info('payments are compared with the provider again');
    isFailing = false;
    return INTERVAL_MS;
  };
}

/** The error itself holds the answer's headers, and its message may name a part of the key. */
function faultOf({ type, statusCode, requestId }: InstanceType<typeof Stripe.errors.StripeError>): object {
  return { fault: type, status: statusCode, stripe_request_id: requestId };
}

/**
 * Applies what lost webhooks left: every event of the last three days that was not applied, and every session of the
 * last three days that was paid and whose pack was not given. Both take the same path as a webhook, so a run repeats
 * nothing, and the next run continues an interrupted one.
 *
 * @returns false when it was stopped before the end
 * @throws the client's error when the provider does not answer or refuses
 */
export async function reconcilePayments(deps: ReconciliationDeps): Promise<boolean> {
  const { stripe, clock } = deps;
  const now = Math.floor(clock() / 1_000);
  const created = { gte: now - PERIOD_S };
  const types = [...APPLIED_EVENTS];
  const settled = { ...created, lte: now - UNDER_WAY_S };
  return (
    (await compare(deps, {
      list: () => stripe.events.list({ types, created: settled, limit: PER_PAGE }),
      findApplied: findAppliedEvents,
      apply: (event) => healEvent(deps, event),
    })) &&
    (await compare(deps, {
      list: () => stripe.checkout.sessions.list({ created, status: 'complete', limit: PER_PAGE }),
      findApplied: findPaidSessions,
      apply: (session) => healSession(deps, session),
    }))
  );
}

async function compare<T extends { id: string }>(
  deps: ReconciliationDeps,
  comparison: Comparison<T>,
): Promise<boolean> {
  let page: T[] = [];
  for await (const listed of comparison.list()) {
    page.push(listed);
    if (page.length < PER_PAGE) continue;
    if (!(await applyMissing(deps, comparison, page))) return false;
    page = [];
  }
  return applyMissing(deps, comparison, page);
}

async function applyMissing<T extends { id: string }>(
  { pool, logger, mayContinue }: ReconciliationDeps,
  { findApplied, apply }: Comparison<T>,
  page: readonly T[],
): Promise<boolean> {
  if (!(await mayContinue())) return false;
  const applied = await findApplied(
    pool,
    page.map(({ id }) => id),
  );
  for (const listed of page.filter(({ id }) => !applied.has(id))) {
    try {
      await apply(listed);
    } catch (error) {
      if (!(error instanceof ZodError)) throw error;
      logger.error({ err: error, id: listed.id }, 'an object of the payment provider has an unexpected format');
    }
  }
  return true;
}

/** Outcomes that show that something had been lost. */
const HEALING: ReadonlySet<Applied['outcome']> = new Set(['credited', 'taken_back', 'returned', 'unclaimed']);

async function healEvent(deps: ReconciliationDeps, event: unknown): Promise<void> {
  const { outcome } = await applyEvent(deps, paymentEvent.parse(event), deps.settings.mode);
  if (HEALING.has(outcome)) deps.metrics.paymentsHealed.inc();
}

async function healSession(deps: ReconciliationDeps, listed: unknown): Promise<void> {
  const { pool, metrics, logger, settings } = deps;
  const session = checkoutSession.parse(listed);
  const applied = await inTransaction(pool, (client) => applySession(client, session, settings.mode));
  if (!HEALING.has(applied.outcome)) return;
  metrics.paymentsHealed.inc();
  logApplied(logger, applied, { session_id: session.id, type: 'reconciliation' });
}

const PAYMENTS_PER_PAGE = 100;

type VoidDeps = Pick<BillerDeps, 'pool' | 'metrics' | 'logger'> & Continuing;

/**
 * The purchases that lose their credits in an installation: those of the simulator as soon as it has a real forum or a
 * key of the payment provider, and those of a test key as soon as it has a live one.
 */
export function modesToVoid(installation: {
  mode: PaymentMode | undefined;
  hasSimulatedForum: boolean;
}): ('trial' | 'test')[] {
  const { mode, hasSimulatedForum } = installation;
  if (mode === 'live') return ['trial', 'test'];
  if (mode === 'trial') return [];
  return mode === 'test' || !hasSimulatedForum ? ['trial'] : [];
}

/** Takes the credits and the limits of purchases without money back, each once. */
export async function voidPayments(options: VoidDeps, modes: readonly ('trial' | 'test')[]): Promise<void> {
  const { pool, mayContinue } = options;
  if (modes.length === 0) return;
  while (await mayContinue()) {
    const payments = await listPaymentsWithoutMoney(pool, modes, PAYMENTS_PER_PAGE);
    for (const payment of payments) await voidPayment(options, payment);
    if (payments.length < PAYMENTS_PER_PAGE) return;
  }
}

async function voidPayment({ pool, metrics, logger }: VoidDeps, { id, accountId }: PaymentWithoutMoney): Promise<void> {
  const refunded = await inTransaction(pool, async (client) => {
    await lockAccount(client, accountId);
    return (await markVoided(client, id)) ? refundPack(client, id) : undefined;
  });
  // A checkout that was never paid took nothing.
  if (refunded === undefined) return;
  metrics.paymentsVoided.inc();
  const { taken, owed } = refunded;
  logger.warn({ payment_id: id, account_id: accountId, taken, owed }, 'a purchase without money was taken back');
}
