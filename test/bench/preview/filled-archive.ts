import { itemRow } from '../../../shared/stores/archive/archive-rows.ts';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { CorpusItem } from '../shared/corpus.ts';
import { seededRandom } from '../shared/matcher-random.ts';

const HOURS = 19;
const ROWS_PER_INSERT = 5_000;
/** Long posts are cut, as most of the forum's items are comments. */
const LONGEST = 2_000;
const TITLE = 60;
const POST_SHARE = 0.1;

/** What the archive holds. */
export interface FilledArchive {
  items: number;
  distinct: number;
  from: Date;
  to: Date;
}

/**
 * Fills the archive with `count` items of the last 19 hours. The corpus is inserted once, with the archiver's words;
 * the engine itself multiplies it with other ids and times. Ids ascend with time, as the forum's do.
 */
export async function fillArchive(
  clickhouse: ClickHouseClient,
  corpus: readonly CorpusItem[],
  count: number,
): Promise<FilledArchive> {
  const to = new Date();
  const from = new Date(to.getTime() - HOURS * 3_600_000);
  await clickhouse.command({
    query: `CREATE TABLE corpus_items ENGINE = MergeTree ORDER BY number
            AS SELECT toUInt64(0) AS number, * EXCEPT (first_seen_at, created_utc) FROM items WHERE false`,
  });
  for (let start = 0; start < corpus.length; start += ROWS_PER_INSERT) {
    const values = corpus.slice(start, start + ROWS_PER_INSERT).map((item, index) => corpusRow(item, start + index));
    await clickhouse.insert({ table: 'corpus_items', values, format: 'JSONEachRow' });
  }
  const copies = Math.ceil(count / corpus.length);
  const stepMs = (to.getTime() - from.getTime()) / copies;
  for (let copy = 0; copy < copies; copy++) {
    const first = from.getTime() + copy * stepMs;
    await clickhouse.command({ query: copyStatement(copy, corpus.length, { first, stepMs }) });
  }
  await clickhouse.command({ query: 'DROP TABLE corpus_items' });
  return { items: copies * corpus.length, distinct: corpus.length, from, to };
}

function copyStatement(copy: number, size: number, { first, stepMs }: { first: number; stepMs: number }): string {
  const columns = 'kind, post_id, parent_id, subreddit, author, title, body, url, permalink, nsfw, score, num_comments';
  return `INSERT INTO items (thing_id, ${columns}, source, language, ver, words, post_title_words, created_utc, first_seen_at)
    SELECT if(kind = 'post', 't3_', 't1_') || lower(leftPad(hex(${copy * size} + number), 10, '0')), ${columns}, source, language, 1, words,
           post_title_words, seen - INTERVAL 5 SECOND, fromUnixTimestamp64Milli(toInt64(${first} + number * ${stepMs / size}), 'UTC') AS seen
      FROM corpus_items`;
}

const random = seededRandom(21);

/** The item as the archiver would write it; its time is set when it is copied. */
function corpusRow({ subreddit, text, language }: CorpusItem, number: number): Record<string, unknown> {
  const kind = random() < POST_SHARE ? 'post' : 'comment';
  const title = text.slice(0, TITLE);
  const item: ForumItem = {
    v: 1,
    thing_id: 't1_0',
    kind,
    post_id: 'parent',
    parent_id: kind === 'post' ? null : 't3_parent',
    subreddit: subreddit === '' ? 'unknown' : subreddit,
    author: `author${Math.floor(random() ** 3 * 100_000)}`,
    title,
    body: kind === 'post' ? text.slice(TITLE, LONGEST) : text.slice(0, LONGEST),
    permalink: `https://forum.example/r/${subreddit}/comments/parent/_/${number.toString(36)}/`,
    nsfw: random() < 0.05,
    created_utc: '2026-01-01T00:00:00.000Z',
    source: 'listings',
    replay: false,
    first_seen_at: '2026-01-01T00:00:00.000Z',
    score: 1,
    num_comments: null,
    url: null,
    language: language ?? 'und',
  };
  const { created_utc: _c, first_seen_at: _f, ...row } = itemRow(item, false);
  return { number, ...row };
}
