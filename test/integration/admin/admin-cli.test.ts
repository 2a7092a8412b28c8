import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAdminHere, runAdminProcess } from '../../support/children/admin-process.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';

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

test('prints help to stdout and exits with 0', async () => {
  const overview = await admin(['--help'], {});
  expect([overview.code, overview.out]).toEqual([0, expect.stringContaining('account create')]);
  const command = await admin(['account', 'create', '--help'], {});
  expect([command.code, command.out]).toEqual([0, expect.stringContaining('--pack none|9|29|79')]);
});

test('a faulty command prints one message to stderr, nothing to stdout, exits with 1 and changes nothing', async () => {
  await admin(['account', 'create', '--email', 'taken@example.com']);
  const before = await db.pool.query('SELECT id FROM accounts ORDER BY id');
  const create = ['account', 'create'];
  const cases: [string[], string, Record<string, string>?][] = [
    [[], 'account create'],
    [['accounts'], 'There is no command "accounts"'],
    [create, '--email is required'],
    [[...create, '--email', 'nobody'], 'nobody is not an e-mail address'],
    [[...create, '--email', 'x@example.com', '--credits', 'many'], '--credits'],
    [[...create, '--email', 'x@example.com', '--credits', '1.5'], '--credits'],
    [[...create, '--email', 'x@example.com', '--pack', '10'], '--pack'],
    [[...create, '--email', 'x@example.com', 'extra'], 'extra'],
    [[...create, '--email', 'Taken+again@example.com'], 'has an account already'],
    [['account', 'show', '--email', 'x@example.com'], 'has no account'],
    [[...create, '--email', 'x@example.com'], 'No service is running', { DATA_DIR: join(dataDir, 'empty') }],
    [[...create, '--email', 'x@example.com'], 'does not answer', { DATABASE_URL: 'postgres://u@127.0.0.1:1/x' }],
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
