import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Coverage } from '../../../schemas/api/coverage.ts';
import { readAuditSamples, saveAuditSamples, saveCoverageHours } from '../../../shared/crawl/crawl-coverage.ts';
import { addForumCalls, readForumCalls } from '../../../shared/crawl/forum-calls.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const HOUR = 3_600_000;

/** The start of an hour some days ago. */
const FROM = Math.floor(Date.now() / HOUR) * HOUR - 80 * HOUR;

let db: TestDatabase;
let api: TestApi;
let poor: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  poor = (await api.account({ credits: 0 })).apiKey;
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

const at = (hours: number) => new Date(FROM + hours * HOUR);

async function ask(from: number, to: number, key = poor): Promise<Coverage> {
  const query = `from=${at(from).toISOString()}&to=${at(to).toISOString()}`;
  const reply = await api.call(key, 'GET', `/v1/coverage?${query}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.body as unknown as Coverage;
}

test('tells what is stored of the hours and their gaps, and charges nothing', async () => {
  const coverage = {
    seen: { listings: { posts: 1, comments: 20 } },
    late: 1,
    lags: { 18: 21 },
    tombstones: 2,
    posts: { found: 1, unread: 1 },
    comments: { share: 0.9, low: 0.8, high: 0.95, threads: 4, comments: 22 },
  };
  await saveCoverageHours(db.pool, [{ hour: at(1), archivedRows: 21, coverage, callsPerSecond: 1.5 }]);
  await addForumCalls(db.pool, [{ hour: at(1), lane: 'live', taken: 30, refused: 4 }]);
  await db.pool.query(
    `INSERT INTO crawl_gaps (source, reason, opened_at, filled_at, outcome, found)
     VALUES ('listings:new', 'before', $1, NULL, NULL, 0), ('listings:new', 'within', $2, $3, 'filled', 9),
            ('listings:new', 'over', $1, $1, 'filled', 9), ('listings:new', 'after', $4, NULL, NULL, 0)`,
    [at(-1), at(1.5), at(1.6), at(2)],
  );
  const { hours, total, gaps, gap_count } = await ask(0, 2);
  expect(hours).toHaveLength(2);
  expect(hours[0]).toMatchObject({ measured_at: null, gaps: { opened: 0, closed: 0, open: 1 } });
  expect(hours[1]).toMatchObject({
    hour: at(1).toISOString(),
    seen: { posts: 1, comments: 20 },
    late: 1,
    tombstones: 2,
    completeness: { posts: { share: 0.5 }, comments: { share: 0.9, threads: 4 } },
    gaps: { opened: 1, closed: 1, open: 1 },
    budget: { allowed: 5_400, used: 30, by_lane: { live: { used: 30, refused: 4 } } },
  });
  expect(total.seen).toEqual(hours[1]!.seen);
  expect(gaps.map(({ reason, outcome, found }) => [reason, outcome, found])).toEqual([
    ['within', 'filled', 9],
    ['before', null, 0],
  ]);
  expect(gap_count).toBe(2);
  const { rows } = await db.pool.query(`SELECT FROM ledger_entries WHERE kind = 'read'`);
  expect(rows).toEqual([]);
});

test('without times it tells the last 24 hours; a key without any permission may ask', async () => {
  const { apiKey } = await api.account();
  const created = await api.call(apiKey, 'POST', '/v1/account/keys', { name: 'nothing', scopes: [] });
  const reply = await api.call(String(created.body.api_key), 'GET', '/v1/coverage');
  const { from, to, hours } = reply.body as unknown as Coverage;
  expect(hours).toHaveLength(24);
  expect(Date.parse(to) - Date.parse(from)).toBe(24 * HOUR);
  expect(Date.parse(to)).toBeGreaterThanOrEqual(Date.now());
});

describe('what is counted', () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour));

  test('a thread counts once an hour in the audit, as it was stored first', async () => {
    const sample = { hour: at(1), postId: 'abc', weight: 2.5, seen: 9, total: 10 };
    const others = [
      { ...sample, postId: 'abd', weight: 4 },
      { ...sample, hour: at(2) },
    ];
    await saveAuditSamples(db.pool, [sample, { ...sample, seen: 1 }]);
    await saveAuditSamples(db.pool, [{ ...sample, seen: 2 }, ...others]);
    expect(await readAuditSamples(db.pool, at(1), at(2))).toEqual([sample, others[0]]);
    expect(await readAuditSamples(db.pool, at(2), at(3))).toEqual([others[1]]);
    await saveAuditSamples(db.pool, []);
  });

  test('processes that count calls at the same time add up', async () => {
    const calls = (taken: number) => [
      { hour: at(1), lane: 'threads', taken, refused: 1 },
      { hour: at(1), lane: 'live', taken, refused: 0 },
      { hour: at(2), lane: 'live', taken: 1, refused: 0 },
    ];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => addForumCalls(db.pool, index % 2 ? calls(3) : calls(2).reverse())),
    );
    expect(await readForumCalls(db.pool, at(1), at(2))).toEqual([
      { hour: at(1), lane: 'live', taken: 50, refused: 0 },
      { hour: at(1), lane: 'threads', taken: 50, refused: 20 },
    ]);
    expect(await readForumCalls(db.pool, at(2), at(3))).toEqual([{ hour: at(2), lane: 'live', taken: 20, refused: 0 }]);
    await addForumCalls(db.pool, []);
  });
});
