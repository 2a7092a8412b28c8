import { setTimeout as wait } from 'node:timers/promises';
import { percentiles } from './percentiles.ts';

export interface Load {
  perSecond: number;
  seconds: number;
}

/** The request. */
export interface Server {
  /** Resolves when the response to the request with this number is complete. */
  ask(number: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Sends requests at an even rate and does not wait for responses. Latencies count from the scheduled time of a request.
 */
export async function run(server: Server, { perSecond, seconds }: Load): Promise<number[]> {
  const latencies: number[] = [];
  const ask = async (number: number, scheduledAt: number): Promise<void> => {
    await server.ask(number);
    latencies.push(performance.now() - scheduledAt);
  };
  const begun = performance.now();
  const sent: Promise<void>[] = [];
  while (sent.length < perSecond * seconds) {
    const scheduledAt = begun + (sent.length * 1_000) / perSecond;
    if (scheduledAt <= performance.now()) sent.push(ask(sent.length, scheduledAt));
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
