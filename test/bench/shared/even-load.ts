import { setTimeout as wait } from 'node:timers/promises';
import { percentiles } from './percentiles.ts';

export interface Load {
  perSecond: number;
  seconds: number;
}

/** The request. */
export interface Server {
  /** Resolves when the request with this number is answered whole. */
  ask(number: number): Promise<void>;
  close(): Promise<void>;
}

/** Asks at an even rate, whether answers come or not; a latency counts from the moment at which the request was due. */
export async function run(server: Server, { perSecond, seconds }: Load): Promise<number[]> {
  const latencies: number[] = [];
  const ask = async (number: number, due: number): Promise<void> => {
    await server.ask(number);
    latencies.push(performance.now() - due);
  };
  const begun = performance.now();
  const sent: Promise<void>[] = [];
  while (sent.length < perSecond * seconds) {
    const due = begun + (sent.length * 1_000) / perSecond;
    if (due <= performance.now()) sent.push(ask(sent.length, due));
    else await wait(1);
  }
  await Promise.all(sent);
  return latencies;
}

export function inMs(latencies: number[]): object {
  const { p50, p90, p99, max } = percentiles(latencies);
  return { p50_ms: p50, p90_ms: p90, p99_ms: p99, max_ms: max };
}

export function difference(more: number | null, less: number | null): number {
  return Number(((more ?? 0) - (less ?? 0)).toFixed(1));
}
