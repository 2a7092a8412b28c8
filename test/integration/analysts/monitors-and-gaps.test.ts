import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyTables } from '../../../services/biller/copy-tables.ts';
import { eraseMonitorsInArchive } from '../../../shared/clickhouse/erase-monitors.ts';
import { closeGap, openGaps } from '../../../shared/crawl/crawl-gaps.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import type { PayingAccount } from '../../support/fixtures/biller-monitors.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** Everything that a name may hold and a statement, a line or an XML file could take for its own. */
const NAME = `it's "rust" \\n \\' {x: String} <b>&amp; 咖啡 🦀 ; DROP TABLE monitors --`;

let db: TestDatabase;
let archive: TestArchive;
let account: PayingAccount;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  [account] = (await insertPayingAccounts(db.pool, { accounts: 1, monitors: 3, credits: 100 })) as [PayingAccount];
});
afterAll(async () => {
  await archive.drop();
  await db.drop();
});

async function rows<T>(query: string): Promise<T[]> {
  return (await archive.client.query({ query, format: 'JSONEachRow' })).json<T>();
}

const copy = (isFull = false) =>
  copyTables({ pool: db.pool, clickhouse: archive.client, mayContinue: () => Promise.resolve(true) }, { isFull });
const names = () =>
  rows<{ name: string; deleted: boolean }>('SELECT name, deleted FROM monitors FINAL ORDER BY monitor_id');
/** The version of the row that was written last. */
const lastVersion = async () => (await rows<{ n: number }>('SELECT max(version) AS n FROM monitors'))[0]!.n;

async function change(id: string, assignment: string, value: string): Promise<void> {
  await db.pool.query(`UPDATE monitors SET ${assignment} = $2, updated_at = service_now() WHERE id = $1`, [id, value]);
}

describe('the copy of monitors', () => {
  test('has name and account of every monitor, whatever the name holds', async () => {
    const [first] = account.monitorIds;
    await change(first!, 'name', NAME);
    await copy(true);
    const found = await rows<Record<string, unknown>>(
      'SELECT monitor_id, name, account_id, created_at > now() - INTERVAL 2 DAY AS is_recent, deleted FROM monitors FINAL ORDER BY monitor_id',
    );
    expect(found).toEqual(
      account.monitorIds.map((id) => ({
        monitor_id: id,
        name: id === first ? NAME : 'test',
        account_id: account.accountId,
        is_recent: 1,
        deleted: false,
      })),
    );
  });

  test('follows changes, writes nothing without one, and blanks deleted monitors', async () => {
    const before = await lastVersion();
    await copy();
    await copy(true);
    expect(await lastVersion()).toBe(before);
    const [, second, third] = account.monitorIds;
    await change(second!, 'name', 'renamed');
    await change(third!, 'status', 'deleted');
    await copy();
    expect(await rows(`SELECT 1 FROM monitors FINAL WHERE version > ${before}`)).toHaveLength(2);
    expect(await names()).toEqual([
      { name: NAME, deleted: false },
      { name: 'renamed', deleted: false },
      { name: '', deleted: true },
    ]);
    expect(await rows('SELECT name FROM monitors_with_matches ORDER BY monitor_id')).toHaveLength(2);
  });

  test('keeps what was read last when two processes write at once, and repairs what differs', async () => {
    const [, second] = account.monitorIds;
    await Promise.all([copy(true), copy(), copy(true)]);
    // A process that was slow writes what it had read long ago.
    const stale = { monitor_id: second, name: 'test', account_id: '', created_at: 0, deleted: false };
    const insert = (values: object) =>
      archive.client.insert({ table: 'monitors', values: [values], format: 'JSONEachRow' });
    await insert({ ...stale, content_hash: 'x', version: 1 });
    expect((await names())[1]).toEqual({ name: 'renamed', deleted: false });
    await insert({ ...stale, content_hash: 'x', version: Date.now() * 1_000 - 120_000_000 });
    await insert({ ...stale, monitor_id: 'mon_zzzzzzzzzzzz', name: 'gone', content_hash: 'x', version: 1 });
    await copy(true);
    expect((await names()).map(({ name }) => name)).toEqual([NAME, 'renamed', '']);
  });

  test('loses the monitors of an erased account, also from disk', async () => {
    expect(await eraseMonitorsInArchive(archive.client, account.monitorIds)).toBe(true);
    const left = await rows<{ monitor_id: string }>('SELECT DISTINCT monitor_id FROM monitors');
    expect(left.filter(({ monitor_id }) => account.monitorIds.includes(monitor_id))).toEqual([]);
  });
});

test('the copy of gaps follows their opening and closing', async () => {
  const now = Date.now();
  const gap = { afterThing: 't1_a', beforeThing: 't1_z', afterAt: now - 60_000, beforeAt: now, ageMs: 5_000 };
  await openGaps(db.pool, [
    { ...gap, source: 'listings:new', reason: 'overflow', communities: ["it's", 'b'] },
    {
      source: 'post-ids',
      reason: 'outage',
      afterThing: undefined,
      beforeThing: undefined,
      afterAt: undefined,
      beforeAt: undefined,
      ageMs: 0,
    },
  ]);
  await copy();
  const shown = () =>
    rows<Record<string, unknown>>(`SELECT source, reason, after_thing, communities, outcome, isNull(closed_at) AS open,
      open_seconds >= 0 AS lasts, isNull(created_from) AS unknown FROM gaps_with_duration ORDER BY gap_id`);
  const [listing, ids] = await shown();
  expect(listing).toMatchObject({
    source: 'listings:new',
    after_thing: 't1_a',
    communities: ["it's", 'b'],
    open: 1,
    unknown: 0,
  });
  expect(ids).toMatchObject({
    source: 'post-ids',
    after_thing: '',
    communities: [],
    outcome: '',
    lasts: 1,
    unknown: 1,
  });
  const { rows: open } = await db.pool.query<{ id: number }>('SELECT id FROM crawl_gaps ORDER BY id');
  expect(await closeGap(db.pool, open[0]!.id, { found: 3, outcome: 'filled' })).toBe(true);
  await copy();
  expect((await shown()).map(({ outcome, open: isOpen }) => [outcome, isOpen])).toEqual([
    ['filled', 0],
    ['', 1],
  ]);
});

test('the example draws a chart of the matches of each monitor', async () => {
  const [charted] = await insertPayingAccounts(db.pool, { accounts: 1, monitors: 9, credits: 0 });
  const createdAt = new Date(Date.now() - 60_000).toISOString();
  const values = charted!.monitorIds.flatMap((id, monitor) =>
    Array.from({ length: 20 - monitor }, (_, seq) => ({ monitor_id: id, seq: seq + 1, created_at: createdAt })),
  );
  await archive.client.insert({ table: 'matches', values, format: 'JSONEachRow' });
  await change(charted!.monitorIds[0]!, 'name', NAME);
  await copy();
  const script = join(import.meta.dirname, '../../../examples/matches-chart.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--clickhouse', archive.url, '--hours', '2']);
  expect(stdout).toMatch(/^<svg [^]*<\/svg>\n$/);
  // Seven monitors, and the others together.
  expect(stdout.match(/<rect [^>]*><title>/g)).toHaveLength(8);
  expect(stdout).toContain(`it&#39;s &#34;rust&#34; \\n`);
  expect(stdout).not.toContain('<b>');
});
