import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { itemRow } from '../../../shared/archive/archive-rows.ts';
import { matchOne } from '../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';
import { readArchivedCandidates } from '../../../shared/archive/archived-candidates.ts';
import type { ArchivePosition, CandidateQuery } from '../../../shared/archive/archived-candidates.ts';
import { matchItemOf } from '../../../shared/archive/archived-item.ts';
import type { ArchivedItem } from '../../../shared/archive/archived-item.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';
import { ITEM_CASE_RULE } from '../../unit/shared/matching/cases/items/item-case.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.now();

let database: TestDatabase;
let archive: TestArchive;
beforeAll(async () => {
  database = await createTestDatabase();
  archive = await createTestArchive(database.pool);
});
afterAll(async () => {
  await archive.drop();
  await database.drop();
});

let things = 0;

/** An item that was seen `minutes` ago. */
function itemAt(minutes: number, { kind, text, ...more }: MatchItem, thingId?: string): ForumItem {
  const id = thingId ?? `${kind === 'post' ? 't3' : 't1'}_${(things++).toString(36)}`;
  const { author = '[deleted]', language, title, subreddit, nsfw } = more;
  const at = new Date(NOW - minutes * 60_000).toISOString();
  const decided = language === undefined ? {} : { language };
  return forumItemOf(id, {
    title,
    body: text,
    subreddit,
    nsfw,
    author,
    first_seen_at: at,
    created_utc: at,
    ...decided,
  });
}

async function archiveItems(items: readonly ForumItem[], removed = false): Promise<void> {
  const values = items.map((item) => itemRow(item, removed));
  await archive.client.insert({ table: 'items', values, format: 'JSONEachRow' });
}

const comment = (text: string): MatchItem => ({ kind: 'comment', title: '', text, subreddit: 'a', nsfw: false });
const ruleFor = (keyword: string, more: Partial<Rule> = {}): Rule => ({
  ...ITEM_CASE_RULE,
  keywords: [keyword],
  ...more,
});

/** All candidates, read in pages of `limit`. */
async function candidates(rule: Rule, more: Partial<CandidateQuery> = {}): Promise<ArchivedItem[]> {
  const found: ArchivedItem[] = [];
  let after: ArchivePosition | undefined;
  do {
    const page = await readArchivedCandidates(archive.client, {
      ...{ rule, from: new Date(NOW - 60 * HOUR_MS), to: new Date(NOW + HOUR_MS), order: 'newest', limit: 5_000 },
      signal: AbortSignal.timeout(20_000),
      ...more,
      after,
    });
    found.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return found;
}

const ids = (items: readonly ArchivedItem[]): string[] => items.map(({ content }) => content.thing_id);

test('items come in the order of sight and id, in pages of any size, within the times', async () => {
  const rule = ruleFor('pagesword');
  const minutes = [0, 1, 1, 1, 1, 60, 60, 2_000, 2_000, 3_000];
  const items = minutes.map((minute) => itemAt(minute, comment('pagesword')));
  await archiveItems(items);
  const places = items.map(({ thing_id, first_seen_at }) => `${first_seen_at} ${thing_id}`).sort();
  const expected = places.map((place) => place.split(' ')[1]);
  for (const limit of [3, 100]) {
    expect(ids(await candidates(rule, { limit, order: 'oldest' }))).toEqual(expected);
    expect(ids(await candidates(rule, { limit, order: 'newest' }))).toEqual(expected.toReversed());
  }
  const [from, to] = [new Date(NOW - 60 * 60_000), new Date(NOW - 60_000)];
  expect(ids(await candidates(rule, { from, to, order: 'oldest' }))).toEqual(expected.slice(3, 5));
});

test('a thing comes once, at its last place, and not at all once it is removed', async () => {
  const rule = ruleFor('twiceword');
  const [early, late, gone] = [
    itemAt(3_000, comment('twiceword'), 't1_twice'),
    itemAt(5, comment('twiceword'), 't1_twice'),
    itemAt(10, comment('twiceword'), 't1_gone'),
  ];
  await archiveItems([early, gone]);
  await archiveItems([early, gone]);
  expect(ids(await candidates(rule, { limit: 1 }))).toEqual(['t1_gone', 't1_twice']);
  await archiveItems([late]);
  expect(ids(await candidates(rule, { limit: 1 }))).toEqual(['t1_twice', 't1_gone']);
  expect((await candidates(rule)).map(({ firstSeenAt }) => firstSeenAt)).toEqual([
    late.first_seen_at,
    gone.first_seen_at,
  ]);
  await archiveItems([gone], true);
  expect(ids(await candidates(rule))).toEqual(['t1_twice']);
});

test('items that were archived without the words of their post are found by them', async () => {
  const item = itemAt(1, { ...comment('none'), title: 'An unknown walrus' });
  const { post_title_words: _words, ...row } = itemRow(item, false);
  await archive.client.insert({ table: 'items', values: [row], format: 'JSONEachRow' });
  const rule = ruleFor('walrus', { matchIn: ['post_title'] });
  const found = (await candidates(rule)).filter((archived) => matchOne(rule, matchItemOf(archived)) !== undefined);
  expect(ids(found)).toEqual([item.thing_id]);
});

test('what is read is what was seen', async () => {
  const item = itemAt(1, { ...comment('wholeword \ud800 "words" \\ \u0000 ☕'), title: 'T', language: 'de' });
  await archiveItems([item]);
  const [found] = await candidates(ruleFor('wholeword'));
  const { v: _v, source, replay: _r, first_seen_at, score: _s, num_comments: _n, url: _u, language, ...content } = item;
  expect(found).toEqual({
    content: { ...content, body: content.body.toWellFormed() },
    firstSeenAt: first_seen_at,
    language,
    source,
  });
});
