import { afterAll, beforeAll, expect, test } from 'vitest';
import { byTime } from '../../../services/api/reading/comment-order.ts';
import type { CommentsWanted } from '../../../services/api/reading/comment-order.ts';
import { insertItems } from '../../../shared/stores/archive/archive-items.ts';
import type { ArchivedComment } from '../../../shared/stores/matches/archived-comments.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { commentItem } from '../../support/samples/forum-items.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let db: TestDatabase;
let archive: TestArchive;
beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
});
afterAll(async () => {
  await archive.drop();
  await db.drop();
});

interface Written {
  number: number;
  body: string;
  createdMs: number;
  seenMs?: number;
  subreddit?: string;
}

/** Archives comments. */
async function write(comments: readonly Written[]): Promise<void> {
  const items = comments.map(({ number, body, createdMs, seenMs = createdMs, subreddit = 'test' }) => ({
    ...commentItem(number, body),
    subreddit,
    created_utc: new Date(createdMs).toISOString(),
    first_seen_at: new Date(seenMs).toISOString(),
  }));
  await insertItems(db.pool, archive.client, items);
}

const wanted = (word: string, more: Partial<CommentsWanted> = {}): CommentsWanted => ({
  ...{ terms: [word], words: [word], subreddit: undefined, since: undefined, now: Date.now() },
  ...more,
});

/** The pages of an order, one after the other. */
async function listed(
  order: typeof byTime,
  search: CommentsWanted,
  after?: ArchivedComment,
): Promise<ArchivedComment[]> {
  const { signal } = new AbortController();
  const comments: ArchivedComment[] = [];
  const deps = { clickhouse: archive.client, ask: <T>(read: (ending: AbortSignal) => Promise<T>) => read(signal) };
  for await (const page of order(deps, search, after)) comments.push(...page);
  return comments;
}

const numbersOf = (comments: readonly ArchivedComment[]): number[] =>
  comments.map(({ thingId }) => Number.parseInt(thingId.slice(3), 36));

test('by time comes everything once, the latest created first, also what was seen late', async () => {
  const now = Date.now();
  const comments = Array.from({ length: 150 }, (_, number): Written => {
    const createdMs = now - number ** 2 * 2 * MINUTE;
    // Every seventh was seen an hour late; the last ones were created before anything the archive keeps.
    return { number: 1_000 + number, body: 'cashew', createdMs, seenMs: Math.max(createdMs, now - 20 * DAY) };
  });
  for (const comment of comments) {
    if (comment.number % 7 === 0) comment.seenMs = Math.min(now, comment.seenMs! + 60 * MINUTE);
  }
  await write(comments);
  const found = await listed(byTime, wanted('cashew'));
  const numbers = comments.map(({ number }) => number);
  expect(numbersOf(found)).toEqual(numbers);
  expect(numbersOf(await listed(byTime, wanted('cashew'), found[2]))).toEqual(numbers.slice(3));
  const since = now - 101 * MINUTE;
  expect(numbersOf(await listed(byTime, wanted('cashew', { since })))).toEqual(numbers.slice(0, 8));
});
