import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { planOf } from '../../../shared/billing/rules/plans.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { findLedgerMismatches } from '../../../shared/billing/ledger-check.ts';
import { credit } from '../../../shared/billing/ledger.ts';
import { openAccount } from '../../../shared/accounts/accounts.ts';
import { givePack, refundPack } from '../../../shared/billing/packs.ts';
import { ApiProcess } from '../../support/children/api-process.ts';
import type { ProcessReply } from '../../support/children/api-process.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** The invariants of an account, derived from the answers alone. */
interface AccountModel {
  id: string;
  key: string;
  /** Bounds of the balance after all answers: an interrupted request may or may not have been charged. */
  most: number;
  least: number;
  owed: number;
  packs: { id: string; price: number; credits: number }[];
  /** Milliseconds of the model's time at which the burst is full; interrupted requests may have taken slots. */
  wholeAt: number;
  mayHaveTaken: number;
  day: number;
  /** Requests that count for the day; undefined after interrupted ones. */
  dayUsed: number | undefined;
  monitors: number;
}

interface Model {
  accounts: AccountModel[];
  /** Milliseconds. */
  now: number;
}

interface Real {
  db: TestDatabase;
  processes: ApiProcess[];
}

const START = Date.UTC(2031, 0, 1, 12);
const DAY_MS = 86_400_000;
const ROUTES = { read: '/v1/forum/subreddits', list: '/v1/monitors', fault: '/v1/forum/subreddit?sub=' } as const;
type Kind = keyof typeof ROUTES | 'create';

let db: TestDatabase;
let processes: ApiProcess[];

beforeAll(async () => {
  db = await createTestDatabase();
  processes = await Promise.all([ApiProcess.start(db.url, 'plans'), ApiProcess.start(db.url, 'plans')]);
});

afterAll(async () => {
  await Promise.all(processes.map((one) => one.kill()));
  await db.drop();
});

function send(process: ApiProcess, { key }: AccountModel, kind: Kind): Promise<ProcessReply> {
  return kind === 'create'
    ? process.call(key, 'POST', '/v1/monitors', { name: 'model', keywords: ['rust'] })
    : process.call(key, 'GET', ROUTES[kind]);
}

const planNow = ({ packs }: AccountModel) => planOf(Math.max(0, ...packs.map(({ price }) => price)));

/** Concurrent requests of one account to both processes; one process may be killed after the first answer. */
class Burst implements fc.AsyncCommand<Model, Real> {
  private readonly index: number;
  private readonly kinds: Kind[];
  private readonly kills: boolean;
  constructor(index: number, kinds: Kind[], kills: boolean) {
    this.index = index;
    this.kinds = kinds;
    this.kills = kills;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const account = model.accounts[this.index]!;
    const plan = planNow(account);
    const requests = this.kinds.map((kind, at) => send(real.processes[at % 2]!, account, kind));
    if (this.kills) {
      await Promise.race(requests);
      await real.processes[1]!.kill();
    }
    const replies = await Promise.all(requests);
    if (this.kills) real.processes[1] = await ApiProcess.start(real.db.url, 'plans');
    const lost = replies.filter(({ status }) => status === 0).length;
    this.checkLimits(model, account, { replies, lost });
    const paid = replies.reduce((sum, { used }) => sum + used, 0);
    account.most -= paid;
    account.least = Math.max(0, account.least - paid - (this.kinds.includes('create') ? 10 : 1) * lost);
    const created = replies.filter(({ status }) => status === 201).length;
    account.monitors += created;
    // After a refund an account may have more monitors than its plan allows: they keep running, and no more can be
    // created.
    if (created > 0) expect(account.monitors).toBeLessThanOrEqual(plan.monitors);
    await checkMoney(model, real);
  }

  /** The number of admitted requests is exact, because time is frozen. */
  private checkLimits(
    model: Model,
    account: AccountModel,
    { replies, lost }: { replies: ProcessReply[]; lost: number },
  ) {
    const plan = planNow(account);
    const every = 1_000 / plan.requestsPerSecond;
    const day = Math.floor(model.now / DAY_MS);
    if (account.day !== day) Object.assign(account, { day, dayUsed: 0 });
    // After a refund the stored time may be further ahead than the smaller plan's whole burst; that counts as one
    // request just now.
    if (account.wholeAt > model.now + plan.burst * every) account.wholeAt = model.now + every;
    const burstLeft = Math.max(0, plan.burst - Math.ceil(Math.max(0, account.wholeAt - model.now) / every));
    const dayLeft = plan.requestsPerDay === null ? Infinity : Math.max(0, plan.requestsPerDay - (account.dayUsed ?? 0));
    const allowed = Math.min(replies.length, burstLeft, dayLeft);
    const refused = replies.filter(({ status }) => status === 429).length;
    const passed = replies.length - refused - lost;
    expect(passed).toBeLessThanOrEqual(allowed);
    const isExact = lost === 0 && account.mayHaveTaken === 0 && account.dayUsed !== undefined;
    if (isExact) expect(passed).toBe(allowed);
    account.wholeAt = Math.max(account.wholeAt, model.now) + passed * every;
    account.mayHaveTaken = burstLeft === plan.burst && lost === 0 && passed === 0 ? 0 : account.mayHaveTaken + lost;
    if (plan.requestsPerDay === null) return;
    account.dayUsed = isExact ? account.dayUsed! + passed : undefined;
  }

  toString = () => `burst(account ${this.index}, [${this.kinds.join()}]${this.kills ? ', kill -9' : ''})`;
}

class TimePasses implements fc.AsyncCommand<Model, Real> {
  private readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    await real.db.freeze(`${this.ms} milliseconds`);
    model.now += this.ms;
    // After ten seconds every burst is full again, whatever was taken.
    if (this.ms >= 10_000) for (const account of model.accounts) account.mayHaveTaken = 0;
  }
  toString = () => `pass(${this.ms} ms)`;
}

class Grant implements fc.AsyncCommand<Model, Real> {
  private readonly index: number;
  private readonly credits: number;
  constructor(index: number, credits: number) {
    this.index = index;
    this.credits = credits;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const account = model.accounts[this.index]!;
    await credit(real.db.pool, {
      accountId: account.id,
      kind: 'grant',
      credits: this.credits,
      reference: randomText(12),
    });
    addCredits(account, this.credits);
    await checkMoney(model, real);
  }
  toString = () => `grant(account ${this.index}, ${this.credits})`;
}

class Pack implements fc.AsyncCommand<Model, Real> {
  private readonly index: number;
  private readonly price: 9 | 29 | 79;
  constructor(index: number, price: 9 | 29 | 79) {
    this.index = index;
    this.price = price;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const account = model.accounts[this.index]!;
    const pack = { id: randomText(12), price: this.price, credits: 30 };
    await inTransaction(real.db.pool, (client) =>
      givePack(client, { id: pack.id, accountId: account.id, pack: pack.price, credits: pack.credits }),
    );
    account.packs.push(pack);
    addCredits(account, pack.credits);
    await checkMoney(model, real);
  }
  toString = () => `pack(account ${this.index}, $${this.price})`;
}

/** Three administrators refund the oldest pack at once. */
class Refund implements fc.AsyncCommand<Model, Real> {
  private readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
  check = ({ accounts }: Readonly<Model>) => accounts[this.index]!.packs.length > 0;
  async run(model: Model, real: Real): Promise<void> {
    const account = model.accounts[this.index]!;
    const { id, credits } = account.packs.shift()!;
    const refunds = await Promise.all(
      [1, 2, 3].map(() => inTransaction(real.db.pool, (client) => refundPack(client, id))),
    );
    const done = refunds.filter((refund) => refund !== undefined);
    expect(done).toHaveLength(1);
    expect(done[0]!.taken + done[0]!.owed).toBe(credits);
    account.most -= done[0]!.taken;
    account.least = Math.max(0, account.least - done[0]!.taken);
    account.owed += done[0]!.owed;
    await checkMoney(model, real);
  }
  toString = () => `refund(account ${this.index})`;
}

function addCredits(account: AccountModel, credits: number): void {
  const paid = Math.min(account.owed, credits);
  account.owed -= paid;
  account.most += credits - paid;
  account.least += credits - paid;
}

async function checkMoney({ accounts }: Model, { db: { pool } }: Real): Promise<void> {
  expect((await findLedgerMismatches(pool, '', 1_000)).mismatches).toEqual([]);
  for (const account of accounts) {
    const { rows } = await pool.query<{ balance: number; owed: number; pack: number; monitors: number; paid: number }>(
      `SELECT balance, owed, pack, (SELECT count(*) FROM monitors WHERE account_id = $1) AS monitors,
         (SELECT count(*) FROM ledger_entries WHERE account_id = $1 AND kind = 'monitor_create') AS paid
       FROM accounts WHERE id = $1 FOR UPDATE`,
      [account.id],
    );
    const { balance, owed, pack, monitors, paid } = rows[0]!;
    expect(balance).toBeLessThanOrEqual(account.most);
    expect(balance).toBeGreaterThanOrEqual(account.least);
    expect([owed, pack, monitors]).toEqual([
      account.owed,
      Math.max(0, ...account.packs.map(({ price }) => price)),
      paid,
    ]);
    Object.assign(account, { most: balance, least: balance, monitors });
  }
}

async function freshModel(): Promise<Model> {
  await db.pool.query('UPDATE service_clock SET frozen_at = $1', [new Date(START)]);
  const accounts = await Promise.all(
    [40, 15].map(async (credits): Promise<AccountModel> => {
      const email = `${randomText(12)}@example.com`;
      const opened = await inTransaction(db.pool, (client) =>
        openAccount(client, { email, credits, pack: 0, keyName: 'model' }),
      );
      return {
        id: opened!.accountId,
        key: opened!.apiKey,
        most: credits,
        least: credits,
        owed: 0,
        packs: [],
        wholeAt: 0,
        mayHaveTaken: 0,
        day: 0,
        dayUsed: 0,
        monitors: 0,
      };
    }),
  );
  return { accounts, now: START };
}

const index = fc.nat({ max: 1 });
const kind = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Kind>('read') },
  { weight: 1, arbitrary: fc.constantFrom<Kind>('list', 'fault') },
  { weight: 2, arbitrary: fc.constant<Kind>('create') },
);
const kinds = fc.array(kind, { minLength: 1, maxLength: 60 });
const COMMANDS = [
  fc.tuple(index, kinds).map(([at, list]) => new Burst(at, list, false)),
  fc.tuple(index, kinds).map(([at, list]) => new Burst(at, list, false)),
  fc.tuple(index, fc.array(kind, { minLength: 20, maxLength: 60 })).map(([at, list]) => new Burst(at, list, true)),
  fc.constantFrom(1, 50, 333, 1_000, 2_500, 10_000, DAY_MS).map((ms) => new TimePasses(ms)),
  fc.constantFrom(1_000, 10_000).map((ms) => new TimePasses(ms)),
  fc.tuple(index, fc.integer({ min: 1, max: 60 })).map(([at, credits]) => new Grant(at, credits)),
  fc.tuple(index, fc.constantFrom<9 | 29 | 79>(9, 29, 79)).map(([at, price]) => new Pack(at, price)),
  index.map((at) => new Refund(at)),
];

test('limits and ledger hold for random requests, grants, purchases and refunds in any order, with processes killed in between', async () => {
  const property = fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 25, size: 'max' }), async (commands) => {
    const model = await freshModel();
    await fc.asyncModelRun(() => ({ model, real: { db, processes } }), commands);
  });
  await fc.assert(property, { numRuns: Number(process.env.MODEL_RUNS ?? 5), endOnFailure: true });
}, 300_000);
