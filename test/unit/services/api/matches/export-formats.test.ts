import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FILE_FORMATS } from '../../../../../services/api/matches/export-formats.ts';
import { matchResource } from '../../../../../shared/matches/rules/match-resource.ts';
import type { StoredMatch } from '../../../../../shared/matches/rules/match-resource.ts';
import { readParquetFiles } from '../../../../support/oracles/parquet-reader.ts';

const MONITOR = 'mon_000000000000';

/** A match as the reader of Parquet files shows it. */
function shown(match: StoredMatch): unknown[] {
  const { title, body, suppressed_reason: reason = null, ...found } = matchResource(MONITOR, match);
  const time = (at: string) => at.replace('T', ' ').replace('Z', '');
  return [
    ...[found.id, MONITOR, time(found.created_at), found.kind, found.subreddit, found.author, title, body],
    ...[found.permalink, found.matched_terms, found.thing_id, found.post_id, time(found.created_utc), found.suppressed],
    ...[reason, match.backfill, found.delivery_status, found.delivered_at && time(found.delivered_at)],
  ];
}

async function piecesOf(matches: readonly StoredMatch[], batch: number): Promise<(string | Uint8Array)[]> {
  async function* batches(): AsyncGenerator<readonly StoredMatch[]> {
    for (let at = 0; at < matches.length; at += batch) yield await Promise.resolve(matches.slice(at, at + batch));
  }
  const pieces: (string | Uint8Array)[] = [];
  for await (const piece of FILE_FORMATS.parquet.pieces(MONITOR, batches())) pieces.push(piece);
  return pieces;
}

const bytesOf = async (matches: readonly StoredMatch[], batch: number) =>
  Buffer.concat((await piecesOf(matches, batch)) as Uint8Array[]);
const inOrder = (rows: unknown[][]): unknown[][] =>
  rows.toSorted((one, other) => (String(one[0]) < String(other[0]) ? -1 : 1));

const text = fc.string({ unit: 'binary', maxLength: 12 });
const date = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
const match = fc.record<Omit<StoredMatch, 'seq'>>({
  thingId: text,
  kind: fc.constantFrom('post', 'comment'),
  matchedTerms: fc.array(text, { maxLength: 4 }),
  suppressed: fc.boolean(),
  suppressedReason: fc.constantFrom(null, 'thread_once' as const),
  backfill: fc.boolean(),
  deliveryStatus: fc.constant('delivered'),
  createdAt: date,
  deliveredAt: fc.option(date),
  postId: text,
  subreddit: text,
  author: text,
  title: text,
  body: text,
  permalink: text,
  createdUtc: date,
});
const matchList = fc
  .array(match, { maxLength: 60 })
  .map((all) => all.map((one, seq): StoredMatch => ({ seq, ...one })));

test('ClickHouse reads what was written, whatever it is and however it is cut', async () => {
  const samples = fc.sample(fc.tuple(matchList, fc.integer({ min: 1, max: 20 })), 100);
  const read = readParquetFiles(await Promise.all(samples.map(([matches, batch]) => bytesOf(matches, batch))));
  samples.forEach(([matches], index) => {
    expect(inOrder(read[index]!)).toEqual(inOrder(matches.map(shown)));
  });
});

test('ClickHouse reads long texts and lists and many row groups, each sent as soon as it is full', async () => {
  const [sample] = fc.sample(match, 1);
  const matches = Array.from({ length: 20_000 }, (_, seq): StoredMatch => ({
    ...sample!,
    seq,
    body: seq === 7 ? 'ü😀'.repeat(600_000) : `text ${seq}`,
    matchedTerms: seq === 9 ? Array<string>(20_000).fill('x') : [],
    deliveredAt: seq < 15_000 ? null : sample!.createdAt,
  }));
  const pieces = (await piecesOf(matches, 200)) as Uint8Array[];
  // The long text ends its group; the last piece is the end of the file.
  expect(pieces).toHaveLength(1 + 4 + 1);
  const [found] = readParquetFiles([Buffer.concat(pieces)]);
  // Compared as text: a difference between 20,000 rows would be shown for minutes.
  expect(JSON.stringify(inOrder(found!)) === JSON.stringify(inOrder(matches.map(shown)))).toBe(true);
});
