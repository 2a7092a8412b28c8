import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ResponseStream } from '../../../../../services/api/http/response-stream.ts';
import { LiveTails } from '../../../../../services/api/matches/live-tails.ts';
import type { Queryable } from '../../../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A Postgres that answers a read of a page when it is told to, and the monitors that read, in order. */
function createDatabase() {
  const reads: string[] = [];
  const answers: ((rows: unknown[]) => void)[] = [];
  const query = (text: string, values: unknown[]) => {
    if (!text.includes('AS access')) return Promise.resolve({ rows: [{ wasFree: true, slot: 1 }] });
    reads.push(String(values[4]));
    return new Promise((resolve) => answers.push((rows) => resolve({ rows })));
  };
  return {
    db: { query } as unknown as Queryable,
    reads,
    answer: async (rows: unknown[] = [{ end: null, seq: null }]) => {
      answers.shift()!(rows);
      await settle();
    },
  };
}

function createTails(db: Queryable, options: { maxStreams?: number } = {}): LiveTails {
  return new LiveTails({ pool: db, logger: silentLogger(), metrics: createMetrics(), ...options });
}

/** A client of a stream, which takes all pieces, or none after the first `most`. */
async function open(tails: LiveTails, monitorId: string, most = Infinity) {
  const request = { accountId: 'acc', holder: { kind: 'key', id: 'key' }, eventOf: String, afterSeq: 0 } as const;
  const stream: ResponseStream = await tails.open({ ...request, monitorId });
  const pieces: (string | Uint8Array)[] = [];
  const ended = (async () => {
    for await (const piece of stream.pieces()) {
      pieces.push(piece);
      if (pieces.length >= most) await new Promise((resolve) => stream.ended.addEventListener('abort', resolve));
    }
  })();
  await settle();
  return { stream, pieces, ended };
}

test('a stream that waits for a read sends comments; when its client takes none, the next stream reads', async () => {
  const { db, reads, answer } = createDatabase();
  const tails = createTails(db);
  for (const name of ['1', '2', '3', '4']) await open(tails, name);
  const stuck = await open(tails, 'stuck', 2);
  const patient = await open(tails, 'patient');
  for (let beats = 0; beats < 3; beats++) {
    await vi.advanceTimersByTimeAsync(15_000);
    await settle();
  }
  expect(stuck.pieces.slice(1)).toEqual([':\n\n']);
  expect(patient.pieces.slice(1)).toEqual([':\n\n', ':\n\n', ':\n\n']);
  await answer();
  expect(reads).toEqual(['1', '2', '3', '4', 'patient']);
  await tails.stop();
});

test('a process refuses more streams than it may have, until one has ended', async () => {
  const { db, answer } = createDatabase();
  const tails = createTails(db, { maxStreams: 1 });
  const first = await open(tails, '1');
  await expect(open(tails, '2')).rejects.toMatchObject({ code: 'rate_limited' });
  await answer([{ end: 'deleted', seq: null }]);
  await first.ended;
  await first.stream.close();
  await expect(open(tails, '2')).resolves.toBeDefined();
  await tails.stop();
});
