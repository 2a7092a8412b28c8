import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentiles } from './percentiles.ts';

/** 256 MB: more than a processor's own caches, and than pages of 4 KB whose addresses it remembers. */
const INTEGERS = 1 << 26;
const READS = 2_000_000;
/** Each read waits for the one before it, so that none is made ahead. */
const STRIDE = 40_503;
const WRITES = 100;
const BLOCK = Buffer.alloc(8_192, 1);

export interface MachineFigures {
  /** A read anywhere in 256 MB, in nanoseconds: about 100 on a machine of one's own. */
  random_read_ns: number;
  /** A write of 8 KB to the temporary folder until it is stored, in milliseconds. */
  stored_write_ms: { p50: number | null; p99: number | null };
}

/** What the machine gives at this moment, in about two seconds: others on a shared one change it by several times. */
export async function machineFigures(): Promise<MachineFigures> {
  return {
    random_read_ns: Math.round(randomReadNs()),
    stored_write_ms: await storedWrites(),
  };
}

function randomReadNs(): number {
  const memory = new Int32Array(INTEGERS);
  for (let index = 0; index < INTEGERS; index++) memory[index] = Math.imul(index, 0x9e3779b1) & (INTEGERS - 1);
  const read = (times: number): number => {
    let at = 1;
    for (let number = 0; number < times; number++) at = memory[(at + number * STRIDE) & (INTEGERS - 1)]!;
    return at;
  };
  read(READS / 10);
  const begun = performance.now();
  const last = read(READS);
  if (last < 0) throw new Error('the result is needed');
  return ((performance.now() - begun) * 1e6) / READS;
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
