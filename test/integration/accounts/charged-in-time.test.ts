import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Caller } from '../../../services/api/admission/authentication.ts';
import { AdmissionControl } from '../../../services/api/admission/admission-control.ts';
import { ReadingCharges } from '../../../services/api/reading/reading-charge.ts';
import { awayEngine } from '../../../shared/outages/away-engine.ts';
import { createPool, inTransaction, REQUEST_LIMITS } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { ServerTime } from '../../../shared/postgres/server-time.ts';
import type { ServerMoment } from '../../../shared/postgres/server-time.ts';
import { openAccount } from '../../../shared/stores/accounts/open-account.ts';
import { chargeTogether } from '../../../shared/stores/ledger/ledger.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const REQUEST = { requestId: 'r', route: 'GET /v1/forum/post', keyId: 'k' };

let db: TestDatabase;
let pool: Pool;
/** The texts of the statements that the pool ran, a line each. */
let statements: string[] = [];
let accounts = 0;

beforeAll(async () => {
  db = await createTestDatabase();
  pool = createPool({ url: db.url, name: 'in-time', logger: silentLogger(), max: 2, limits: REQUEST_LIMITS });
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      const [config] = given as [string | { name?: string; text: string }];
      statements.push(typeof config === 'string' ? config : (config.name ?? config.text));
      return query(...given);
    }) as typeof client.query;
  });
});
afterAll(async () => {
  await pool.end();
  await db.drop();
});

async function account(credits = 10): Promise<{ caller: Caller; key: string }> {
  const opened = await inTransaction(db.pool, (client) =>
    openAccount(client, { email: `in-time${accounts++}@example.com`, credits, pack: 79, keyName: 'test' }),
  );
  const { accountId, apiKey } = opened!;
  return { caller: { keyId: 'k', accountId, scopes: ['forum:read'], balance: 1, pack: 79 }, key: apiKey };
}

/** The balance, and the number of charges. */
async function booked({ accountId }: Caller): Promise<[number, number]> {
  const { rows } = await db.pool.query<{ balance: number; charges: number }>(
    `SELECT balance, (SELECT count(*)::int FROM ledger_entries WHERE account_id = $1 AND kind = 'read') AS charges
     FROM accounts WHERE id = $1`,
    [accountId],
  );
  return [rows[0]!.balance, rows[0]!.charges];
}

/** The server's time as an admission tells it. */
async function heard(): Promise<ServerMoment> {
  const { key } = await account();
  const told: ServerMoment[] = [];
  const control = new AdmissionControl(pool, undefined, { heard: (moment) => told.push(moment) });
  await control.admit({ authorization: `Bearer ${key}` });
  return told[0]!;
}

function move({ accountId }: Caller, reference: string) {
  return { accountId, kind: 'read', credits: 1, reference } as const;
}

test('an admission tells the time of the server, to the millisecond, and when it started', async () => {
  const before = Date.now();
  const { ms, server } = await heard();
  expect(ms).toBeGreaterThanOrEqual(before - 1);
  expect(ms).toBeLessThanOrEqual(Date.now() + 1);
  const { rows } = await db.pool.query<{ started: Date }>('SELECT pg_postmaster_start_time() AS started');
  expect(Math.floor(server / 1_000)).toBe(rows[0]!.started.getTime());
});

test('while the server answers, a charge is one statement; else it is a transaction', async () => {
  const { caller } = await account();
  const time = new ServerTime();
  const charges = new ReadingCharges(pool, time);
  const run = async (): Promise<string[]> => {
    statements = [];
    await charges.charge(caller, 1, REQUEST);
    return statements;
  };
  expect(await run()).toEqual(['BEGIN', 'charge-together', 'COMMIT']);
  time.heard(await heard(), 0);
  expect(await run()).toEqual(['charge-together']);
  expect(await booked(caller)).toEqual([8, 2]);
});

test('a charge that the server comes to after its deadline, or that another server gets, changes nothing', async () => {
  const { caller } = await account();
  const { ms, server } = await heard();
  for (const [name, before] of [
    ['late', { ms: ms - 1, server }],
    ['another server', { ms: ms + 60_000, server: server + 1 }],
  ] as const) {
    expect([name, await chargeTogether(pool, [move(caller, name)], before)]).toEqual([name, [undefined]]);
  }
  expect(await booked(caller)).toEqual([10, 0]);
  expect(await chargeTogether(pool, [move(caller, 'in time')], { ms: ms + 60_000, server })).toEqual([9]);
});

test('a charge that was late is made alone, in a transaction', async () => {
  const { caller } = await account();
  const { ms, server } = await heard();
  const charges = new ReadingCharges(pool, { deadline: () => ({ ms: ms - 1, server }) });
  statements = [];
  expect(await charges.charge(caller, 1, REQUEST)).toEqual({ credits: 1, balance: 9 });
  expect(await charges.chargeCovered(caller, 3, REQUEST)).toEqual({ credits: 3, balance: 6 });
  expect(statements.filter((text) => text === 'COMMIT')).toHaveLength(2);
  expect(await booked(caller)).toEqual([6, 2]);
});

test('a charge with a deadline does not depend on the clock of this machine', async () => {
  const { caller } = await account();
  const time = new ServerTime();
  const charges = new ReadingCharges(pool, time);
  for (const minutes of [-1, 1]) {
    const moment = await heard();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
    time.heard(moment, 0);
    statements = [];
    await charges.charge(caller, 1, REQUEST).finally(() => vi.useRealTimers());
    expect(statements).toEqual(['charge-together']);
  }
});

/** Until it is dropped, each charge waits for longer than it may. */
async function whileSlow(work: () => Promise<void>): Promise<void> {
  await db.pool.query(`
    CREATE FUNCTION wait_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3); RETURN NEW; END $$;
    CREATE TRIGGER wait_long BEFORE INSERT ON ledger_entries FOR EACH ROW EXECUTE FUNCTION wait_long()`);
  try {
    await work();
  } finally {
    await db.pool.query('DROP TRIGGER wait_long ON ledger_entries; DROP FUNCTION wait_long()');
  }
}

test.each(['', '60s'])(
  'a charge that was in time and then hangs is never committed, also where the server limits transactions (%s)',
  async (limit) => {
    const { caller } = await account();
    const { ms, server } = await heard();
    const name = new URL(db.url).pathname.slice(1);
    if (limit !== '') await db.pool.query(`ALTER DATABASE ${name} SET transaction_timeout = '${limit}'`);
    const limited = createPool({ url: db.url, name: 'limited', logger: silentLogger(), limits: REQUEST_LIMITS });
    try {
      await whileSlow(async () => {
        const charged = chargeTogether(limited, [move(caller, 'slow')], { ms: ms + 60_000, server });
        const error = await charged.catch((failure: unknown) => failure);
        expect(error).toMatchObject({ code: '25P04' });
        expect(awayEngine(error)).toBe('postgres');
      });
      expect(await booked(caller)).toEqual([10, 0]);
      expect(await chargeTogether(limited, [move(caller, 'then')], { ms: ms + 60_000, server })).toEqual([9]);
    } finally {
      await limited.end();
      await db.pool.query(`ALTER DATABASE ${name} RESET transaction_timeout`);
    }
  },
);
