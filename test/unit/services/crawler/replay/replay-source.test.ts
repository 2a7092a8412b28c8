import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { DumpLine } from '../../../../../services/crawler/replay/dump-lines.ts';
import { readDumpLines } from '../../../../../services/crawler/replay/dump-lines.ts';
import { ReplaySource } from '../../../../../services/crawler/replay/replay-source.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';
import { systemError } from '../../../../support/samples/system-error.ts';

const MINUTE = 60_000;
const directory = mkdtempSync(join(tmpdir(), 'forum-test-replay-source-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

function dump(posts: number): Buffer {
  const fields = { author: 'a', subreddit: 'tea', title: 't', selftext: '', over_18: false, permalink: '/', score: 1 };
  const lines = Array.from({ length: posts }, (_, n) =>
    JSON.stringify({ kind: 't3', data: { ...fields, id: `p${n}`, created_utc: 1_767_225_600 } }),
  );
  return Buffer.from(lines.join('\n'));
}

/** A replay of a file in virtual time. */
class Replay {
  now = 0;
  readonly ids: string[] = [];
  readonly source: ReplaySource;

  constructor(path: string, readLines = readDumpLines) {
    const plan = { path, bytes: 1, name: `replay:${path}`, rate: undefined, escaped: undefined };
    const runtime = { metrics: createMetrics(), logger: silentLogger(), clock: () => this.now };
    this.source = new ReplaySource(plan, { ...runtime, throttle: undefined, readLines });
  }

  /** Makes calls until the source waits or is done. */
  async run(): Promise<'done' | { waitMs: number }> {
    for (;;) {
      const step = this.source.next(this.now);
      if ('waitMs' in step) return step;
      const { things, done, acknowledged } = await step.fetch(new AbortController().signal);
      this.ids.push(...things.map(({ data }) => data.id));
      acknowledged();
      if (done === true) return 'done';
    }
  }
}

test('a file that cannot be read is read once it can', async () => {
  const path = join(directory, 'later');
  const replay = new Replay(path);
  await replay.source.begin(undefined);
  // It is missing, and then a directory.
  expect(await replay.run()).toEqual({ waitMs: MINUTE });
  mkdirSync(path);
  replay.now += MINUTE;
  expect(await replay.run()).toEqual({ waitMs: MINUTE });
  expect(replay.source.position()).toEqual({ line: 0, things: 0, skipped: 0, done: false });
  rmSync(path, { recursive: true });
  writeFileSync(path, dump(3));
  replay.now += MINUTE;
  expect(await replay.run()).toBe('done');
  expect(replay.ids).toEqual(['p0', 'p1', 'p2']);
});

test('what was read before the disk failed is published, and the rest once it works', async () => {
  const path = join(directory, 'broken');
  writeFileSync(path, dump(700));
  let brokenAt = 650;
  const asked: number[] = [];
  async function* readLines(file: string, skip: number): AsyncGenerator<DumpLine> {
    asked.push(skip);
    for await (const line of readDumpLines(file, skip)) {
      if (line.number > brokenAt) throw systemError('EIO', 'read');
      yield line;
    }
  }
  const replay = new Replay(path, readLines);
  await replay.source.begin(undefined);
  expect(await replay.run()).toEqual({ waitMs: MINUTE });
  expect([replay.ids.length, asked]).toEqual([650, [0]]);
  replay.now += MINUTE;
  expect(await replay.run()).toEqual({ waitMs: MINUTE });
  brokenAt = Infinity;
  replay.now += MINUTE;
  expect(await replay.run()).toBe('done');
  expect([new Set(replay.ids).size, replay.ids.length, asked]).toEqual([700, 700, [0, 650, 650]]);
});
