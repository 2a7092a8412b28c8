import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAuditSamples, saveAuditSamples } from '../../../shared/stores/crawl/audit-samples.ts';
import { addForumCalls, readForumCalls } from '../../../shared/stores/crawl/forum-calls.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

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
