import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { statementsOf } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import { itemRow } from '../../../shared/stores/archive/archive-rows.ts';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Report } from '../main.ts';
import type { Corpus, CorpusItem } from './corpus.ts';
import { seededRandom } from './matcher-random.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../schemas/clickhouse');

const HOURS = 19;
const ROWS_PER_INSERT = 5_000;
/** Long posts are cut, as most of the forum's items are comments. */
const LONGEST = 2_000;
const TITLE = 60;
const POST_SHARE = 0.1;

/** What the archive holds. */
interface FilledArchive {
  items: number;
  distinct: number;
  from: Date;
  to: Date;
}

/**
 * `[--items N] [--archive URL]`: works with an archive of N items (10,000,000) in an engine of its own, whose folder (6
 * GB for 10 million items) is removed at the end; or with an archive that a benchmark filled before.
 */
export async function withFilledArchive(
  report: Report,
  args: string[],
  corpus: Corpus,
  work: (clickhouse: ClickHouseClient) => Promise<void>,
): Promise<void> {
  const options = { items: { type: 'string', default: '10000000' }, archive: { type: 'string' } } as const;
  const { values } = parseArgs({ args, options });
  if (values.archive !== undefined) return withClient(values.archive, work);
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-archive-'));
  const engines = await startEngines({ dataDir, env: process.env, engines: ['clickhouse'] });
  try {
    await withClient(engines.urls.clickhouse, async (clickhouse) => {
      await createTables(clickhouse);
      const begun = performance.now();
      const { items, distinct } = await fillArchive(clickhouse, corpus.items, Number(values.items));
      report({
        filled: items,
        distinct,
        corpus: corpus.name,
        seconds: Math.round((performance.now() - begun) / 1_000),
      });
      await work(clickhouse);
    });
  } finally {
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function withClient(url: string, work: (clickhouse: ClickHouseClient) => Promise<void>): Promise<void> {
  // Where the machine has other work too, a copy of the whole corpus takes longer than the usual 30 s.
  const clickhouse = createClickhouse(url, 'bench', { requestMs: 600_000 });
  try {
    await work(clickhouse);
  } finally {
    await clickhouse.close();
  }
}

/** The migrations, without the lock in Postgres: nobody else uses this engine. */
async function createTables(clickhouse: ClickHouseClient): Promise<void> {
  await clickhouse.command({
    query: `CREATE TABLE schema_migrations (name String, applied_at DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY name`,
  });
  for (const file of readdirSync(MIGRATIONS).sort()) {
    if (!file.endsWith('.sql')) continue;
    for (const query of statementsOf(readFileSync(join(MIGRATIONS, file), 'utf8'))) await clickhouse.command({ query });
  }
}

/**
 * Fills the archive with `count` items of the last 19 hours. The corpus is inserted once, with the archiver's words;
 * the engine itself multiplies it with other ids and times. Ids ascend with time, as the forum's do.
 */
async function fillArchive(
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
