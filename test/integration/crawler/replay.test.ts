import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readDumpLines } from '../../../services/crawler/replay/dump-lines.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { CollectingPublisher, counted, startTestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import type { TestCrawler } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

const POST = {
  author: 'gardener_ann',
  subreddit: 'gardening',
  created_utc: 1_767_225_600,
  selftext: '',
  over_18: false,
  permalink: '/r/gardening/comments/x/',
  score: 3,
};
const COMMENT = { author: 'cook_bob', subreddit: 'gardening', created_utc: 1_767_225_700, score: 1 };
/** Nothing listens on this port: a replay that called the forum would fail and be counted. */
const NO_FORUM = 'http://127.0.0.1:9';

function post(id: string, title: string): object {
  return { ...POST, id, title };
}
function comment(id: string, postId: string, body: string): object {
  return { ...COMMENT, id, link_id: `t3_${postId}`, parent_id: `t3_${postId}`, body };
}
function lines(entries: readonly object[]): Buffer {
  return Buffer.from(entries.map((entry) => JSON.stringify(entry)).join('\n'));
}

async function countLines(file: string): Promise<number> {
  let count = 0;
  for await (const line of readDumpLines(file, 0)) count = line.number;
  return count;
}

describe('the lines of a dump', () => {
  const directory = mkdtempSync(join(tmpdir(), 'forum-test-dump-'));
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('end with an error if a %s file is truncated', async (name, compress) => {
    const file = join(directory, name);
    const whole = compress(randomBytes(300_000).toString('base64'));
    for (const bytes of [whole.length - 3, Math.floor(whole.length / 2), 20]) {
      writeFileSync(file, whole.subarray(0, bytes));
      await expect(countLines(file)).rejects.toThrow();
    }
    writeFileSync(file, whole);
    expect(await countLines(file)).toBe(1);
  });
});

describe('replay of a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'forum-test-replay-'));
  let database: TestDatabase;
  let crawler: TestCrawler | undefined;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await crawler?.stop();
    crawler = undefined;
    await database.pool.query('TRUNCATE crawl_cursors, leases');
  });
  afterAll(async () => {
    await database.drop();
    rmSync(directory, { recursive: true });
  });

  async function start(source: string, publisher: CollectingPublisher): Promise<TestCrawler> {
    crawler = await startTestCrawler({ url: NO_FORUM, pool: database.pool, publisher, sources: [source] });
    return crawler;
  }

  async function untilDone(): Promise<{ line: number; things: number; skipped: number }> {
    return eventually('the end of the file', async () => {
      const { rows } = await database.pool.query<{
        position: { line: number; things: number; skipped: number; done: boolean };
      }>('SELECT position FROM crawl_cursors');
      return rows[0]?.position.done === true && rows[0].position;
    });
  }

  const many = Array.from({ length: 2500 }, (_, index) => ({
    kind: 't3',
    data: post(`a${index.toString(36)}`, `Title ${index}`),
  }));

  test.each([
    [
      'gzip in several members',
      (text: Buffer) => Buffer.concat([gzipSync(text.subarray(0, 999)), gzipSync(text.subarray(999))]),
    ],
    [
      'zstd in several frames',
      (text: Buffer) => Buffer.concat([zstdCompressSync(text.subarray(0, 999)), zstdCompressSync(text.subarray(999))]),
    ],
  ])('reads every item of a %s file', async (name, encode) => {
    const file = join(directory, `many-${name.replaceAll(' ', '-')}`);
    writeFileSync(file, encode(lines(many)));
    const publisher = new CollectingPublisher();
    await start(`replay:${file}`, publisher);
    expect(await untilDone()).toMatchObject({ line: 2500, things: 2500, skipped: 0 });
    expect(publisher.items.size).toBe(2500);
    expect(publisher.published).toBe(2500);
    expect(publisher.items.get('t3_a0')).toMatchObject({ source: 'replay', replay: true, title: 'Title 0' });
  });

  test('reads and unescapes bare objects, uses earlier posts, and skips unreadable lines', async () => {
    const file = join(directory, 'bare.jsonl');
    const entries = [
      post('p1', 'Tea &amp; cake'),
      comment('c1', 'p1', '&gt; a quote &amp;amp; more'),
      comment('c2', 'unknown', 'alone'),
      { kind: 't1', data: { ...comment('c3', 'p1', 'typed &gt; so'), link_title: 'Own title', over_18: true } },
      { kind: 't5', data: { name: 't5_x' } },
      { ...post('p2', 'No time'), created_utc: null },
      comment('c1', 'p1', 'a second copy'),
    ];
    writeFileSync(file, `${lines(entries).toString()}\n\nnot json\n`);
    const publisher = new CollectingPublisher();
    const { metrics } = await start(`replay:${file}`, publisher);
    expect(await untilDone()).toMatchObject({ line: 9, things: 5, skipped: 3 });
    expect([...publisher.items.keys()].sort()).toEqual(['t1_c1', 't1_c2', 't1_c3', 't3_p1']);
    expect(publisher.items.get('t3_p1')).toMatchObject({ title: 'Tea & cake' });
    expect(publisher.items.get('t1_c1')).toMatchObject({
      title: 'Tea & cake',
      nsfw: false,
      body: '> a quote &amp; more',
    });
    expect(publisher.items.get('t1_c2')).toMatchObject({ title: '', nsfw: true });
    expect(publisher.items.get('t1_c3')).toMatchObject({ title: 'Own title', nsfw: true, body: 'typed &gt; so' });
    expect(await counted(metrics, 'upstream_requests_total')).toBe(0);
  });

  test('resumes after a stop, and does not replay a finished file again', async () => {
    const file = join(directory, 'paced.jsonl');
    writeFileSync(file, lines(many));
    const first = new CollectingPublisher();
    await start(`replay:${file}?rate=400`, first);
    await eventually('some items', () => first.items.size > 300);
    await crawler?.stop();
    expect(first.items.size).toBeLessThan(2500);

    const second = new CollectingPublisher();
    await start(`replay:${file}`, second);
    await untilDone();
    expect(second.items.size).toBe(2500 - first.items.size);
    await crawler?.stop();

    const third = new CollectingPublisher();
    const again = await start(`replay:${file}`, third);
    await eventually('it is settled', () => again.ready());
    expect(third.items.size).toBe(0);
  });
});
