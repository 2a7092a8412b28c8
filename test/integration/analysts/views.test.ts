import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { RecordedMatch } from '../../../schemas/messages/monitor-match.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { attemptRow, itemRow, matchRow } from '../../../shared/archive/archive-rows.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { SUCCESS, attemptOf, iso } from '../../support/samples/analyst-rows.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

const SCHEMA = join(import.meta.dirname, '../../../schemas/clickhouse');
const QUERIES = [...readFileSync(join(SCHEMA, 'README.md'), 'utf8').matchAll(/```sql\n([^]*?)```/g)].map(
  ([, sql]) => sql!,
);
const HOUR = 3_600_000;
const [MINE, OTHER] = ['mon_7n3k0v9xq2ma', 'mon_7n3k0v9xq2mb'] as const;
/** In the middle of an hour, so that rows of different hours never share one. */
const NOW = Math.floor(Date.now() / HOUR) * HOUR - HOUR / 2;
const at = (hoursAgo: number) => iso(NOW - hoursAgo * HOUR);
/** As ClickHouse prints it. */
const wire = (time: string) => time.replace('T', ' ').replace('Z', '');

interface Seen {
  monitor?: string;
  seq: number;
  hoursAgo: number;
  terms: string[];
  /** Seconds from its creation to its sight. */
  lag?: number;
  item?: Partial<ForumItem>;
  match?: Partial<RecordedMatch>;
  is?: 'removed' | 'unknown';
}

/** What was matched: by two monitors, one match of long ago, one removed thing, one that was never archived. */
const SEEN: readonly Seen[] = [
  { seq: 1, hoursAgo: 40 * 24, terms: ['rust'] },
  { seq: 2, hoursAgo: 26, terms: ['rust'], item: { subreddit: 'coffee' } },
  { seq: 3, hoursAgo: 2, terms: ['rust', '咖啡'], item: { language: 'de', source: 'threads' } },
  { seq: 4, hoursAgo: 1, terms: ['rust'], is: 'removed' },
  {
    ...{ seq: 5, hoursAgo: 0, terms: ['iron ore'], lag: 200 },
    match: { suppressed: true, suppressed_reason: 'thread_once', backfill: true },
  },
  { monitor: OTHER, seq: 1, hoursAgo: 3, terms: ['rust'], is: 'unknown' },
];

const itemOf = ({ monitor = MINE, seq, hoursAgo, lag = 10, item }: Seen): ForumItem =>
  forumItemOf(`t1_${monitor.slice(-2)}${seq}`, {
    body: `text ${seq}`,
    first_seen_at: at(hoursAgo),
    created_utc: iso(NOW - hoursAgo * HOUR - lag * 1_000),
    ...item,
  });
const matchOf = (seen: Seen): RecordedMatch => ({
  v: 1,
  match_id: matchId(seen.monitor ?? MINE, seen.seq),
  monitor_id: seen.monitor ?? MINE,
  seq: seen.seq,
  matched_terms: seen.terms,
  suppressed: false,
  first_delivery: 'pending',
  entered_at: at(seen.hoursAgo),
  created_at: at(seen.hoursAgo),
  first_seen_at: at(seen.hoursAgo),
  item: itemOf(seen),
  ...seen.match,
});
const [, , THIRD, , FIFTH] = SEEN as [Seen, Seen, Seen, Seen, Seen];
const FAILURE = { status: 502, error: 'fault', delivery_status: 'pending' as const };
const ATTEMPTS = [
  attemptOf(matchOf(SEEN[1]!), attempt('good.example.com', 26, 1, 50, SUCCESS)),
  attemptOf(matchOf(THIRD), attempt('bad.example.com', 2, 1, 10, FAILURE)),
  attemptOf(matchOf(THIRD), attempt('bad.example.com', 2, 2, 30, { ...FAILURE, status: 503 })),
  attemptOf(matchOf(FIFTH), attempt('good.example.com', 0, 1, 70, SUCCESS)),
];

function attempt(host: string, hoursAgo: number, number: number, durationMs: number, outcome: typeof SUCCESS) {
  return { host, attempt: number, startedAt: NOW - hoursAgo * HOUR + number * 100, durationMs, ...outcome };
}

let db: TestDatabase;
let archive: TestArchive;

async function rows<T = Record<string, unknown>>(query: string): Promise<T[]> {
  const query_params = { monitor: MINE };
  return (await archive.client.query({ query, query_params, format: 'JSONEachRow' })).json<T>();
}

const insert = (table: string, values: object[]) => archive.client.insert({ table, values, format: 'JSONEachRow' });

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  // Every row twice, as after a crash, without merges. So each row exists twice, and expired rows still exist.
  for (const table of ['items', 'matches', 'delivery_attempts']) {
    await archive.client.command({ query: `SYSTEM STOP MERGES ${table}` });
  }
  const hour = (hoursAgo: number) => iso(Math.floor(NOW / HOUR) * HOUR - hoursAgo * HOUR);
  for (const version of [1, 2]) {
    const isLast = version === 2;
    await insert(
      'items',
      SEEN.filter(({ is }) => is !== 'unknown').map((seen) => itemRow(itemOf(seen), isLast && seen.is === 'removed')),
    );
    await insert('matches', SEEN.map(matchOf).map(matchRow));
    await insert('delivery_attempts', ATTEMPTS.map(attemptRow));
    // What was computed or written first is replaced.
    const created_at = at(40 * 24);
    const monitors = [MINE, OTHER].map((monitor_id) => ({ monitor_id, account_id: 'acc_1', created_at, version }));
    await insert(
      'monitors',
      monitors.map((monitor, index) => ({ ...monitor, name: isLast ? `monitor ${index}` : '' })),
    );
    const measured = { posts: 100, comments: isLast ? 1_000 : 0, late: 7, computed_at: at(isLast ? 0 : 1) };
    const audit = { comment_completeness: 0.98, comment_completeness_low: 0.97, comment_completeness_high: 0.99 };
    await insert('coverage_hours', [
      { hour: hour(1), ...measured, ...audit, audited_threads: 5 },
      { hour: hour(2), ...measured, audited_threads: 0 },
      { hour: hour(50), ...measured, audited_threads: 0 },
    ]);
    const gap = { source: 'post-ids', reason: 'overflow', outcome: 'filled', found: isLast ? 3 : 0, version };
    await insert('crawl_gaps', [
      { ...gap, gap_id: 1, opened_at: at(24), closed_at: at(23) },
      { ...gap, gap_id: 2, opened_at: at(2), closed_at: null },
      { ...gap, gap_id: 3, opened_at: at(9 * 24), closed_at: at(9 * 24) },
    ]);
  }
});
afterAll(async () => {
  await archive.drop();
  await db.drop();
});

const shown = (seen: Seen) => {
  const { subreddit, author, title, body, permalink } = itemOf(seen);
  return { created_at: wire(at(seen.hoursAgo)), subreddit, author, title, body, matched_terms: seen.terms, permalink };
};
const hourOf = (hoursAgo: number) => `${wire(at(hoursAgo)).slice(0, 13)}:00:00`;
const latency = (hoursAgo: number, host: string, figures: number[], entered: number | null) => ({
  day: at(hoursAgo).slice(0, 10),
  webhook_kind: 'generic',
  host,
  ...{ attempts: figures[0], matches_delivered: figures[1], duration_p50_ms: figures[2], duration_p99_ms: figures[2] },
  ...{ entered_to_delivered_p50_ms: entered, entered_to_delivered_p95_ms: entered },
});
const coverage = (hoursAgo: number, audit: (number | null)[]) => ({
  ...{ hour: wire(iso(Math.floor(NOW / HOUR) * HOUR - hoursAgo * HOUR)).slice(0, 19) },
  ...{ posts: 100, comments: 1_000, late: 7 },
  ...{ completeness: audit[0], low: audit[1], high: audit[2], audited_threads: audit[3] },
});

/** What the queries of the README answer, in its order. */
const ANSWERS: [about: string, answer: object[]][] = [
  ['the newest matches', [FIFTH, THIRD, SEEN[1]!].map(shown)],
  [
    'the commonest terms',
    [
      { term: 'rust', found: 4, monitors: 2 },
      { term: '咖啡', found: 1, monitors: 1 },
      { term: 'iron ore', found: 0, monitors: 1 },
    ],
  ],
  [
    'communities of a term',
    [
      { subreddit: 'metals', found: 2, authors: 2 },
      { subreddit: 'coffee', found: 1, authors: 1 },
    ],
  ],
  ['matches by hour', [3, 2, 1, 0].map((ago) => ({ hour: hourOf(ago), found: 1, suppressed_ones: ago === 0 ? 1 : 0 }))],
  [
    'how fast; without the matches of a backfill',
    [
      latency(0, 'good.example.com', [1, 1, 70], null),
      latency(2, 'bad.example.com', [2, 0, 30], null),
      latency(26, 'good.example.com', [1, 1, 50], 150),
    ],
  ],
  [
    'receivers in trouble',
    [
      {
        ...{ host: 'bad.example.com', webhook_kind: 'generic', attempts: 2, failures: 2, share: 1 },
        ...{ last_error: 'fault', last_failure_status: 503, last_success_at: null },
      },
    ],
  ],
  [
    'lag by source',
    [
      { source: 'listings', kind: 'comment', items: 2, late_share: 0.5, lag_p50_seconds: 200, lag_p95_seconds: 200 },
      { source: 'threads', kind: 'comment', items: 1, late_share: 0, lag_p50_seconds: 10, lag_p95_seconds: 10 },
    ],
  ],
  [
    'languages',
    [
      { language: '', found: 2 },
      { language: 'de', found: 1 },
    ],
  ],
  ['coverage by hour', [coverage(1, [0.98, 0.97, 0.99, 5]), coverage(2, [null, null, null, 0])]],
  [
    'what each monitor found',
    [
      { monitor_name: 'monitor 0', found: 4, suppressed_ones: 1, last_found: wire(at(0)) },
      { monitor_name: 'monitor 1', found: 1, suppressed_ones: 0, last_found: wire(at(3)) },
    ],
  ],
  [
    'the gaps of a week',
    [{ source: 'post-ids', reason: 'overflow', opened_at: wire(at(24)), outcome: 'filled', seconds: 3_600, found: 3 }],
  ],
];

const byText = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

test('the queries of the README are those that have an answer here', () => {
  expect(QUERIES).toHaveLength(ANSWERS.length);
});

test.each(ANSWERS.map(([about, answer], index) => [about, index, answer] as const))(
  'the query about %s has the published rows, each once',
  async (about, index, answer) => {
    const found = await rows(QUERIES[index]!);
    // Whether the newest two days of the latency are one depends on the hour.
    const inOrder = (list: object[]) => (about.startsWith('how fast') ? list.toSorted(byText) : list);
    expect(inOrder(found)).toEqual(inOrder(answer));
  },
);

test('matches_with_items has no text of removed items, and source, lag, language and why a match was suppressed', async () => {
  const columns = 'match_id, author, body, removed, source, lag_seconds, language, suppressed_reason, backfill';
  const found = await rows(`SELECT ${columns} FROM matches_with_items ORDER BY created_at`);
  expect(found.map((row) => Object.values(row).slice(1))).toEqual([
    ['smith', 'text 2', 0, 'listings', 10, '', '', false],
    ['', '', 0, '', 10, '', '', false],
    ['smith', 'text 3', 0, 'threads', 10, 'de', '', false],
    ['[deleted]', '', 1, 'listings', 10, '', '', false],
    ['smith', 'text 5', 0, 'listings', 200, '', 'thread_once', true],
  ]);
});

test('items_with_lag shows each item once, without text when it was removed; items of dump files have no lag', async () => {
  const counts = "SELECT count() AS items, countIf(removed AND body = '') AS removed FROM items_with_lag";
  expect(await rows(counts)).toEqual([{ items: 4, removed: 1 }]);
  const replayed = { thing_id: 't3_dump', kind: 'post', source: 'replay', created_utc: at(900 * 24) };
  await insert('items', [
    { ...replayed, first_seen_at: at(40 * 24) },
    { ...replayed, first_seen_at: at(0) },
  ]);
  expect(await rows(`SELECT thing_id, lag_seconds, late FROM items_with_lag WHERE source = 'replay'`)).toEqual([
    { thing_id: 't3_dump', lag_seconds: null, late: 0 },
  ]);
});
