import { daysLeft } from '../../shared/billing/rules/plans.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import {
  readCreditUses,
  listCausedNotices,
  postponeCauses,
  readFailingWebhooks,
  readPausedMonitors,
  readRunning,
  takeCauses,
  readSwitchedOff,
  claimNotice,
  countWaitingNotices,
  closeAlarms,
  listDueAlarms,
  postponeAlarms,
} from '../../shared/notices/notices.ts';
import type { CausedNotice, NoticeFacts, DueAlarm } from '../../shared/notices/notices.ts';

/** Notices per round, so that a round is short. */
const CAUSED_PER_ROUND = 100;
const ALARMS_PER_ROUND = 200;
const ACCOUNTS_PER_ROUND = 500;
/** The first mail is sent after this many failures in a row; a deliverer marks the webhook at 50. */
const LEAST_FAILURES = 10;
/** Attempts are stored this long; an older alarm could not end. */
const ATTEMPT_DAYS = 30;
const LOW_DAYS = 3;
/** All balances are looked at this often, or as often as pages of 500 accounts every round allow. */
const BALANCES_MS = 10 * 60_000;
const MOST_COUNTED = 1_000;

/**
 * A round that looks for notices. It costs four short statements when nothing has changed, and one more for each 500
 * accounts whose balances it looks at.
 */
export function createNoticeRound({ pool, metrics }: { pool: Pool; metrics: Metrics }): () => Promise<void> {
  let position = '';
  let balancesAt = Number.NEGATIVE_INFINITY;
  return async () => {
    metrics.noticesWaiting.set(await countWaitingNotices(pool, MOST_COUNTED));
    await findCausedNotices(pool);
    await findRecoveries(pool);
    const now = performance.now();
    if (position === '' && now - balancesAt < BALANCES_MS) return;
    if (position === '') balancesAt = now;
    position = (await findLowBalances(pool, position)) ?? '';
  };
}

/**
 * Turns causes that triggers recorded into notices. Each account's is one transaction: it takes the causes, reads what
 * is still so, and stores the mail. When the account had a mail of the kind today, the causes wait for the next UTC
 * day. A crash leaves the causes or the notice, never both and never neither.
 *
 * @returns how many notices were looked at
 */
export async function findCausedNotices(pool: Pool): Promise<number> {
  const caused = await listCausedNotices(pool, CAUSED_PER_ROUND);
  for (const notice of caused) await inTransaction(pool, (client) => resolveCauses(client, notice));
  return caused.length;
}

async function resolveCauses(db: Queryable, caused: CausedNotice): Promise<void> {
  const { accountId, kind } = caused;
  const monitorIds = await takeCauses(db, caused);
  if (monitorIds.length === 0) return;
  if ((await readSwitchedOff(db, accountId)).includes(kind)) return;
  const facts = await factsOf(db, caused, monitorIds);
  if (facts !== undefined && !(await claimNotice(db, accountId, facts))) await postponeCauses(db, caused, monitorIds);
}

/** Undefined when nothing of it is so any more. */
async function factsOf(
  db: Queryable,
  { accountId, kind }: CausedNotice,
  monitorIds: readonly string[],
): Promise<NoticeFacts | undefined> {
  if (kind === 'webhook_failing') {
    const webhooks = await readFailingWebhooks(db, monitorIds, LEAST_FAILURES);
    return webhooks.length === 0 ? undefined : { kind, webhooks };
  }
  const monitors = await readPausedMonitors(db, monitorIds);
  return monitors.length === 0 ? undefined : { kind, monitors, ...(await readRunning(db, accountId)) };
}

/** Stores notices of webhooks that work again, for owners who were told that they fail. */
export async function findRecoveries(pool: Pool): Promise<void> {
  const alarms = await listDueAlarms(pool, ATTEMPT_DAYS, ALARMS_PER_ROUND);
  if (alarms.length === 0) return;
  const idsOf = (state: DueAlarm['state']) => alarms.filter((alarm) => alarm.state === state).map(({ id }) => id);
  await closeAlarms(pool, idsOf('over'));
  await postponeAlarms(pool, idsOf('failing'));
  const recovered = alarms.filter(({ state }) => state === 'recovered');
  for (const [accountId, webhooks] of Map.groupBy(recovered, (alarm) => alarm.accountId)) {
    await inTransaction(pool, (client) => resolveAlarms(client, accountId, webhooks));
  }
}

async function resolveAlarms(db: Queryable, accountId: string, alarms: readonly DueAlarm[]): Promise<void> {
  const kind = 'webhook_recovered';
  const ids = alarms.map(({ id }) => id);
  const webhooks = alarms.map(({ id, name, isMarked }) => ({ id, name, isMarked }));
  const isUnwanted = (await readSwitchedOff(db, accountId)).includes(kind);
  if (isUnwanted || (await claimNotice(db, accountId, { kind, webhooks }))) await closeAlarms(db, ids);
  else await postponeAlarms(db, ids);
}

/**
 * Stores notices of accounts, after a given id, whose credits last less than three days.
 *
 * @returns the last id that was looked at; undefined when no more accounts follow
 */
export async function findLowBalances(pool: Pool, afterId: string): Promise<string | undefined> {
  const { uses, lastId } = await readCreditUses(pool, afterId, ACCOUNTS_PER_ROUND);
  for (const { accountId, ...use } of uses) {
    if ((daysLeft(use) ?? LOW_DAYS) < LOW_DAYS) await claimNotice(pool, accountId, { kind: 'low_balance', ...use });
  }
  return lastId;
}
