/**
 * One engine with one set of terms in a separate process, so that its memory can be measured. It receives a MatcherJob
 * and replies with a MatcherMeasurement.
 */
import { readFileSync } from 'node:fs';
import { BUILD } from './matching-engines.ts';
import type { EngineName } from './matching-engines.ts';

export interface MatcherJob {
  engine: EngineName;
  /** Files with a JSON array of strings each. */
  textFile: string;
  termsFile: string;
  /** The number of texts, from the first one on. */
  texts: number;
}

export interface MatcherMeasurement {
  units: number;
  build_ms: number;
  search: Speed;
  /** The speed of the engine's other search. */
  otherSearch: Speed;
  /** Growth of the process's heap and array buffers. */
  heap_bytes: number;
  matches: number;
}

/** Million characters per second. */
export interface Speed {
  byClock: number;
  /** By the processor time of the thread. It equals the time by the clock on an idle machine. */
  byProcessor: number;
}

const PASSES = 3;

process.once('message', (job: MatcherJob) => {
  process.send!(measure(job) satisfies MatcherMeasurement);
  process.disconnect();
});

function measure({ engine: name, textFile, termsFile, texts: count }: MatcherJob): MatcherMeasurement {
  const texts = stringsOf(textFile, count);
  const terms = stringsOf(termsFile);
  const units = texts.reduce((sum, text) => sum + text.length, 0);

  const heapBefore = heapBytes();
  const begun = performance.now();
  const engine = BUILD[name](terms, texts);
  const buildMs = performance.now() - begun;
  const heapGrowth = heapBytes() - heapBefore;

  const matches = engine.scan();
  if (name === 'ours' && engine.other() !== matches) throw new Error('the monitors have other terms than the index');
  return {
    units,
    build_ms: buildMs,
    search: bestOf(engine.scan, units),
    otherSearch: bestOf(engine.other, units),
    heap_bytes: heapGrowth,
    matches,
  };
}

/** Parsing creates each string anew, so that no string is a slice of a larger one, as lines of a text would be. */
function stringsOf(file: string, limit?: number): string[] {
  return (JSON.parse(readFileSync(file, 'utf8')) as string[]).slice(0, limit);
}

function heapBytes(): number {
  globalThis.gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The best of three passes, after an unmeasured one. Other load on the machine can only slow a pass down. */
function bestOf(scan: () => number, units: number): Speed {
  const found = scan();
  const speed = { byClock: 0, byProcessor: 0 };
  for (let pass = 0; pass < PASSES; pass++) {
    const cpuBegun = process.threadCpuUsage();
    const begun = performance.now();
    if (scan() !== found) throw new Error('two passes found different numbers');
    const micros = (performance.now() - begun) * 1000;
    const { user, system } = process.threadCpuUsage(cpuBegun);
    speed.byClock = Math.max(speed.byClock, units / micros);
    speed.byProcessor = Math.max(speed.byProcessor, units / (user + system));
  }
  return speed;
}
