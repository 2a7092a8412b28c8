import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let id: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});
beforeEach(async () => {
  owner = await api.account();
  id = (await api.monitor(owner.apiKey)).id;
});

const logOf = (query = ''): Promise<Reply> => api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/deliveries${query}`);
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
/** Attempt 1 fails, every other attempt 2 delivers; a tenth of the matches was resent a minute ago. */
const addAttempts = (seqs: number) =>
  db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
       delivery_status)
     SELECT $1, seq, attempt,
       service_now() - CASE WHEN attempt = 3 THEN interval '1 min' ELSE ($2::int - seq + 1) * interval '1 h' END,
       1, 'generic', 'h', 204,
       CASE WHEN attempt = 1 THEN 'pending' WHEN attempt = 2 AND seq % 2 = 0 THEN 'failed' ELSE 'delivered' END
     FROM generate_series(1, $2::int) AS seq, generate_series(1, 3) AS attempt
     WHERE attempt < 3 OR seq % 10 = 0`,
    [id, seqs],
  );
const allPages = async (query: string) => {
  const pages: { items: { match_id: string; attempt: number }[]; after: string | null }[] = [];
  for (let after: string | null = ''; after !== null; after = pages.at(-1)!.after) {
    pages.push((await logOf(`?${query}${after === '' ? '' : `&after=${after}`}`)).body as never);
  }
  return pages;
};
const named = (entries: readonly (readonly [number, number])[]) =>
  entries.map(([seq, attempt]) => `${matchId(id, seq)}.${attempt}`);
const found = (pages: Awaited<ReturnType<typeof allPages>>) =>
  pages.flatMap(({ items }) => items.map((entry) => `${entry.match_id}.${entry.attempt}`));

test('the pages have each attempt that passes once, resent ones of old matches too', async () => {
  await addAttempts(20);
  const all = Array.from({ length: 20 }, (_, at) => 20 - at).flatMap((seq) =>
    [3, 2, 1].filter((attempt) => attempt < 3 || seq % 10 === 0).map((attempt) => [seq, attempt] as const),
  );
  const isResend = ([, attempt]: readonly [number, number]) => attempt === 3;
  const isFailure = ([seq, attempt]: readonly [number, number]) => attempt === 2 && seq % 2 === 0;
  const isRecent = ([seq]: readonly [number, number]) => seq > 15;
  const cases: [string, (entry: readonly [number, number]) => boolean][] = [
    ['status=failed', isFailure],
    ['status=pending', ([, attempt]) => attempt === 1],
    ['status=delivered', (entry) => entry[1] > 1 && !isFailure(entry)],
    [`since=${hoursAgo(5.5)}`, (entry) => isRecent(entry) || isResend(entry)],
    [
      `since=${hoursAgo(5.5)}&status=delivered`,
      (entry) => isResend(entry) || (isRecent(entry) && entry[1] === 2 && !isFailure(entry)),
    ],
    [`since=${hoursAgo(5.5)}&status=failed`, (entry) => isRecent(entry) && isFailure(entry)],
    [`since=${hoursAgo(-1)}`, () => false],
    [`since=${hoursAgo(100)}`, () => true],
    [`since=${hoursAgo(100)}&match=${matchId(id, 10)}`, ([seq]) => seq === 10],
    [`status=delivered&match=${matchId(id, 10)}`, ([seq, attempt]) => seq === 10 && attempt === 3],
  ];
  for (const [query, passes] of cases) {
    const expected = named(all.filter(passes));
    for (const limit of [3, 100]) {
      const pages = await allPages(`${query}&limit=${limit}`);
      expect([query, found(pages)]).toEqual([query, expected]);
      expect(pages).toHaveLength(Math.max(1, Math.ceil(expected.length / limit)));
    }
  }
});
