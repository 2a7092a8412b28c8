import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renewMonitors } from '../../../services/biller/renewal-pass.ts';
import { hashApiKey } from '../../../shared/accounts/rules/credentials.ts';
import { allPlans } from '../../../shared/billing/rules/plans.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../../shared/accounts/close-account.ts';
import { findLedgerMismatches } from '../../../shared/billing/ledger-check.ts';
import { chargeTogether, credit } from '../../../shared/billing/ledger.ts';
import { givePack, refundPack } from '../../../shared/billing/packs.ts';
import { lockRecordingMonitors, readRecordingMonitors } from '../../../shared/matches/recording.ts';
import { listDueMonitors } from '../../../shared/billing/renewals.ts';
import { admitRequests } from '../../../shared/accounts/request-limits.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  await refuseChargesOfStoppedMonitors();
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

/**
 * Triggers check each charge in the database: a renewal must find its monitor running in the latest committed state and
 * its account active; and when the charge of a period commits, the monitor must be in that period and
 * running.
 */
async function refuseChargesOfStoppedMonitors(): Promise<void> {
  await db.pool.query(`
    CREATE FUNCTION watch_renewal() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM monitors m JOIN accounts a ON a.id = m.account_id
                        WHERE m.id = split_part(NEW.reference, ':', 1) AND m.status = 'active' AND a.status = 'active'
                          AND m.next_charge_at <= service_now()) THEN
          RAISE EXCEPTION 'a renewal of a monitor that is not due: %', NEW.reference;
        END IF;
        RETURN NULL;
      END $$;
    CREATE TRIGGER watch_renewal AFTER INSERT ON ledger_entries
      FOR EACH ROW WHEN (NEW.kind = 'monitor_renewal') EXECUTE FUNCTION watch_renewal();
    CREATE FUNCTION watch_period() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM monitors m
                        WHERE m.id = split_part(NEW.reference, ':', 1) AND m.status = 'active'
                          AND m.period_no = split_part(NEW.reference, ':', 2)::integer) THEN
          RAISE EXCEPTION 'a charge without its period: %', NEW.reference;
        END IF;
        RETURN NULL;
      END $$;
    CREATE CONSTRAINT TRIGGER watch_period AFTER INSERT ON ledger_entries DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.kind LIKE 'monitor\\_%') EXECUTE FUNCTION watch_period();`);
}

const ACCOUNTS = 4;
const STEPS = 3_000;
/** Steps at which the first accounts are deleted while requests are under way. */
const DELETIONS = [1_500, 2_250];
const AT_ONCE = 16;

/** Produces the same numbers in every run. */
function numbersFrom(seed: string): (below: number) => number {
  let at = 0;
  return (below) => createHash('sha256').update(`${seed} ${at++}`).digest().readUInt32BE() % below;
}

type Action = (account: TestAccount, monitorId: string) => Promise<unknown>;

/** Sends a client's requests and returns their statuses; none may be 5xx. */
async function ask(account: TestAccount, method: string, path: string, body?: object, key?: string): Promise<void> {
  const headers = key === undefined ? undefined : { 'idempotency-key': key };
  const reply = await api.call(account.apiKey, method, path, body, headers);
  if (reply.status >= 500) throw new Error(`${method} ${path}: ${reply.text}`);
}

function actions(next: (below: number) => number, packs: string[]): Action[] {
  const BODY = { name: 'n', keywords: ['rust'] };
  return [
    (account) => ask(account, 'POST', '/v1/monitors', BODY),
    (account) => ask(account, 'POST', '/v1/monitors', BODY, `k${next(3)}`),
    (account, id) => ask(account, 'POST', `/v1/monitors/${id}/resume`),
    (account, id) => ask(account, 'POST', `/v1/monitors/${id}/resume`, undefined, `k${next(3)}`),
    (account, id) => ask(account, 'POST', `/v1/monitors/${id}/pause`),
    (account, id) => ask(account, 'PATCH', `/v1/monitors/${id}`, { keywords: [`term${next(9)}`] }),
    (account, id) => (next(4) === 0 ? ask(account, 'DELETE', `/v1/monitors/${id}`) : Promise.resolve()),
    (account) => ask(account, 'POST', '/v1/account/keys', { name: 'k' }),
    ({ accountId }) => credit(db.pool, { accountId, kind: 'grant', credits: 25, reference: randomUUID() }),
    async ({ accountId }) => {
      const id = randomUUID();
      await inTransaction(db.pool, (client) => givePack(client, { id, accountId, pack: 29, credits: 40 }));
      packs.push(id);
    },
    () => inTransaction(db.pool, (client) => refundPack(client, packs[next(packs.length)] ?? 'none')),
    ({ accountId }) => (next(6) === 0 ? freezeAccount(db.pool, accountId) : Promise.resolve()),
    ({ accountId }) => unfreezeAccount(db.pool, accountId),
  ];
}

/** Operations that affect several accounts at once. */
function sharedActions(
  accounts: readonly TestAccount[],
  keys: readonly string[],
  monitorIds: string[],
): (() => Promise<unknown>)[] {
  const asked = keys.map((key) => ({ keyId: key.slice(3, 11), keyHash: hashApiKey(key) }));
  const moves = () =>
    [...accounts, ...accounts].map(({ accountId }) => ({
      accountId,
      kind: 'read' as const,
      credits: 1,
      reference: randomUUID(),
    }));
  return [
    () => admitRequests(db.pool, [...asked, ...asked.toReversed()], allPlans()),
    () => chargeTogether(db.pool, moves()),
    () => chargeTogether(db.pool, moves().toReversed()),
    () => db.pool.query(`UPDATE monitors SET next_charge_at = service_now() WHERE id = $1`, [monitorIds[0]]),
    async () => {
      const { monitors } = await listDueMonitors(db.pool, 100);
      return renewMonitors(
        db.pool,
        monitors.map(({ id }) => id),
      );
    },
    () =>
      inTransaction(db.pool, async (client) => {
        await lockRecordingMonitors(client, monitorIds);
        return readRecordingMonitors(client, monitorIds);
      }),
  ];
}

test('all operations on accounts at once: no deadlock, no 5xx, and balances equal their ledgers', async () => {
  const next = numbersFrom('everything');
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => api.account({ credits: 100, pack: 29 })));
  // The deletion of an account meets requests with each of its keys.
  const second = await Promise.all(accounts.map(({ accountId }) => issueApiKey(db.pool, accountId, 'second')));
  const keys = [...accounts.map(({ apiKey }) => apiKey), ...second];
  const monitorIds: string[] = [];
  for (const { apiKey } of [...accounts, ...accounts]) monitorIds.push((await api.monitor(apiKey)).id);
  const [own, shared] = [actions(next, []), sharedActions(accounts, keys, monitorIds)];
  const failures: unknown[] = [];
  let step = 0;
  const worker = async () => {
    while (step++ < STEPS) {
      const deleted = DELETIONS.indexOf(step);
      const at = next(ACCOUNTS);
      const choice = next(own.length + shared.length);
      const monitorId = monitorIds[at + ACCOUNTS * next(2)]!;
      try {
        if (deleted >= 0)
          await closeAccount(db.pool, accounts[deleted]!.accountId, { mailboxHash: Buffer.of(deleted) });
        else if (choice < own.length) await own[choice]!(accounts[at]!, monitorId);
        else await shared[choice - own.length]!();
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(failures).toEqual([]);
  const { mismatches } = await findLedgerMismatches(db.pool, '', 100);
  expect(mismatches).toEqual([]);
  const { rows } = await db.pool.query<{ charged: number; periods: number; deleted: number }>(
    `SELECT (SELECT count(*) FROM ledger_entries WHERE kind LIKE 'monitor_%') AS charged,
       (SELECT sum(period_no)::integer FROM monitors) AS periods,
       (SELECT count(*) FROM accounts WHERE status = 'deleted') AS deleted`,
  );
  expect(rows[0]).toMatchObject({ periods: rows[0]!.charged, deleted: DELETIONS.length });
  expect(rows[0]!.charged).toBeGreaterThan(100);
});
