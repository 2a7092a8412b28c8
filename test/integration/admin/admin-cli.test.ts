import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, describe } from 'vitest';
import { runAdminHere, runAdminProcess } from '../../support/children/admin-process.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { saveCoverageHours } from '../../../shared/crawl/crawl-coverage.ts';
import { closeGap, openGaps } from '../../../shared/crawl/crawl-gaps.ts';

let db: TestDatabase;
let api: TestApi;
let dataDir: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  dataDir = mkdtempSync(join(tmpdir(), 'forum-test-admin-'));
  // As a running service writes it; this process takes its place.
  writeFileSync(join(dataDir, 'endpoints.json'), JSON.stringify({ pid: process.pid, postgres: db.url }));
});

afterAll(async () => {
  await api.stop();
  await db.drop();
  rmSync(dataDir, { recursive: true });
});

const admin = (args: readonly string[], env: Record<string, string> = { DATA_DIR: dataDir }) => runAdminHere(args, env);

test('account create prints one JSON line; its key works and the grant is in the ledger', async () => {
  const { code, out, err } = await runAdminProcess(['account', 'create', '--email', 'First@example.com'], {
    DATA_DIR: dataDir,
  });
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^\{.*\}\n$/);
  const line = JSON.parse(out) as { account_id: string; api_key: string; credits: number };
  expect(Object.keys(line)).toEqual(['account_id', 'api_key', 'credits']);
  expect(line.credits).toBe(200);
  const { body } = await api.call(line.api_key, 'GET', '/v1/account');
  expect(body).toMatchObject({ id: line.account_id, email: 'First@example.com', balance: 200, plan: 'free' });
  const { rows } = await db.pool.query('SELECT kind, amount, balance_after FROM ledger_entries WHERE account_id = $1', [
    line.account_id,
  ]);
  expect(rows).toEqual([{ kind: 'grant', amount: 200, balance_after: 200 }]);
});

test('a pack sets the limits and adds no credits; the service is found by DATABASE_URL', async () => {
  const args = ['account', 'create', '--email', 'pack@example.com', '--credits', '5', '--pack', '29'];
  const { code, out } = await admin(args, { DATABASE_URL: db.url, DATA_DIR: '/nowhere' });
  expect(code).toBe(0);
  const line = JSON.parse(out) as { account_id: string; api_key: string; credits: number };
  expect(line.credits).toBe(5);
  const { body } = await api.call(line.api_key, 'GET', '/v1/account');
  expect(body).toMatchObject({ balance: 5, plan: 'pack_29', limits: { monitors: 50 } });
  const { rows } = await db.pool.query('SELECT pack, credits FROM packs_bought WHERE account_id = $1', [
    line.account_id,
  ]);
  expect(rows).toEqual([{ pack: 29, credits: 0 }]);
});

test('account show prints one account, account list prints all', async () => {
  await admin(['account', 'create', '--email', 'show@example.com', '--credits', '3']);
  const shown = await admin(['account', 'show', '--email', 'SHOW@example.com']);
  const account = JSON.parse(shown.out) as { account_id: string };
  expect(account).toMatchObject({ email: 'show@example.com', status: 'active', plan: 'free', credits: 3 });
  const listed = (await admin(['account', 'list'])).out.trim().split('\n');
  expect(listed.map((line) => (JSON.parse(line) as { account_id: string }).account_id)).toContain(account.account_id);
});

test('a faulty command prints one message to stderr, nothing to stdout, exits with 1 and changes nothing', async () => {
  await admin(['account', 'create', '--email', 'taken@example.com']);
  const before = await db.pool.query('SELECT id FROM accounts ORDER BY id');
  const create = ['account', 'create'];
  const cases: [string[], string, Record<string, string>?][] = [
    [[], 'account create'],
    [['acount', 'list'], 'Did you mean account?'],
    [['account', 'list', '--afer', 'x'], 'Did you mean --after?'],
    [[...create, '--email', 'nobody'], 'nobody is not an e-mail address'],
    [[...create, '--email', 'x@example.com', '--credits', 'many'], '--credits'],
    [[...create, '--email', 'Taken+again@example.com'], 'already has an account'],
    [[...create, '--email', 'x@example.com'], 'No service is running', { DATA_DIR: join(dataDir, 'empty') }],
    [[...create, '--email', 'x@example.com'], 'is not responding', { DATABASE_URL: 'postgres://u@127.0.0.1:1/x' }],
    [[...create, '--email', 'x@example.com'], 'DATABASE_URL: must be a URL', { DATABASE_URL: 'nonsense' }],
  ];
  for (const [args, message, env] of cases) {
    const ended = await admin(args, env);
    expect([ended.code, ended.out], args.join(' ')).toEqual([1, '']);
    expect(ended.err).toContain(message);
    expect(ended.err).not.toMatch(/\n {4}at /);
  }
  expect((await db.pool.query('SELECT id FROM accounts ORDER BY id')).rows).toEqual(before.rows);
});

describe('gaps and coverage', () => {
  const HOUR = 3_600_000;

  async function gaps(...options: string[]) {
    const { code, out, err } = await runAdminHere(['gaps', ...options], { DATABASE_URL: db.url });
    const lines = out.split('\n').filter((line) => line.startsWith('{'));
    return { code, err, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
  }

  test('prints gaps as JSON lines: of the last day, of other hours, or those open now', async () => {
    const gap = { source: 'listings:new', afterThing: 't3_a', afterAt: 1_700_000_000_000 };
    const bounds = { beforeThing: undefined, beforeAt: undefined };
    await openGaps(db.pool, [
      { ...gap, ...bounds, reason: 'closed long ago', ageMs: 90 * HOUR },
      { ...gap, ...bounds, reason: 'open for long', ageMs: 80 * HOUR },
      { ...gap, ...bounds, reason: 'closed now', ageMs: 70 * HOUR },
    ]);
    await db.pool.query(
      `UPDATE crawl_gaps SET outcome = 'given_up', filled_at = opened_at WHERE reason = 'closed long ago'`,
    );
    await closeGap(db.pool, 3, { found: 12, outcome: 'filled' });
    const reasons = async (...options: string[]) => (await gaps(...options)).lines.map(({ reason }) => reason);
    expect(await reasons()).toEqual(['closed now', 'open for long']);
    expect(await reasons('--hours', '1000')).toEqual(['closed now', 'open for long', 'closed long ago']);
    const { lines } = await gaps('--open');
    expect(lines).toEqual([
      {
        id: 2,
        source: 'listings:new',
        reason: 'open for long',
        opened_at: expect.any(String) as string,
        created_from: '2023-11-14T22:13:20.000Z',
        after: 't3_a',
        found: 0,
      },
    ]);
    expect((await gaps()).lines[0]).toMatchObject({ outcome: 'filled', found: 12 });
  });

  test('prints the coverage of the last hours, newest first', async () => {
    const hour = Math.floor(Date.now() / HOUR) * HOUR;
    const coverage = {
      seen: { listings: { posts: 2, comments: 30 }, threads: { posts: 0, comments: 3 } },
      late: 1,
      lags: { 25: 32 },
      tombstones: 4,
      posts: { found: 99, unread: 1 },
      comments: { share: 0.98765, low: 0.9, high: 1, threads: 12, comments: 33 },
    };
    const stored = { archivedRows: 35, coverage, callsPerSecond: null };
    await saveCoverageHours(db.pool, [
      { ...stored, hour: new Date(hour) },
      { ...stored, hour: new Date(hour - HOUR), coverage: { ...coverage, posts: null, comments: null } },
      { ...stored, hour: new Date(hour - 30 * HOUR) },
    ]);
    const { code, out } = await runAdminHere(['coverage'], { DATABASE_URL: db.url });
    const lines = out.split('\n').filter((line) => line.startsWith('{'));
    const [newest, previous] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect([code, lines.length]).toEqual([0, 2]);
    expect(newest).toMatchObject({
      hour: new Date(hour).toISOString(),
      comments: 33,
      posts_percent: 99,
      comments_percent: 98.76,
    });
    expect(previous).not.toHaveProperty('posts_percent');
  });
});
