import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentiles } from './percentiles.ts';

const ADDITIONS = 100_000_000;
/** 256 MB: more than a processor's own caches, and than pages of 4 KB whose addresses it remembers. */
const INTEGERS = 1 << 26;
const READS = 2_000_000;
/** Each read waits for the one before it, so that none is made ahead. */
const STRIDE = 40_503;
const WRITES = 100;
const BLOCK = Buffer.alloc(8_192, 1);

export interface MachineFigures {
  /** A dependent addition, in nanoseconds. */
  addition_ns: number;
  /** A read anywhere in 256 MB, in nanoseconds: about 100 on a machine of one's own. */
  random_read_ns: number;
  /** A write of 8 KB to the temporary folder until it is stored, in milliseconds. */
  stored_write_ms: { p50: number | null; p99: number | null };
}

/** What the machine gives at this moment, in about three seconds: others on a shared one change it by several times. */
export async function machineFigures(): Promise<MachineFigures> {
  return {
    addition_ns: round(nanosecondsOf(ADDITIONS, add)),
    random_read_ns: round(randomReadNs()),
    stored_write_ms: await storedWrites(),
  };
}

function nanosecondsOf(times: number, work: (times: number) => number): number {
  work(times / 100);
  const begun = performance.now();
  if (work(times) === Infinity) throw new Error('the result is needed');
  return ((performance.now() - begun) * 1e6) / times;
}

function add(times: number): number {
  let sum = 1;
  for (let index = 0; index < times; index++) sum = (sum + index) | 0;
  return sum;
}

function randomReadNs(): number {
  const memory = new Int32Array(INTEGERS);
  for (let index = 0; index < INTEGERS; index++) memory[index] = Math.imul(index, 0x9e3779b1) & (INTEGERS - 1);
  return nanosecondsOf(READS, (times) => {
    let at = 1;
    for (let read = 0; read < times; read++) at = memory[(at + read * STRIDE) & (INTEGERS - 1)]!;
    return at;
  });
}

async function storedWrites(): Promise<MachineFigures['stored_write_ms']> {
  const folder = mkdtempSync(join(tmpdir(), 'forum-bench-machine-'));
  const file = await open(join(folder, 'file'), 'w');
  try {
    const times: number[] = [];
    for (let write = 0; write < WRITES; write++) {
      const begun = performance.now();
      await file.write(BLOCK);
      await file.datasync();
      times.push(performance.now() - begun);
    }
    const { p50, p99 } = percentiles(times);
    return { p50, p99 };
  } finally {
    await file.close();
    rmSync(folder, { recursive: true });
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
