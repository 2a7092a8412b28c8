import { setTimeout as wait } from 'node:timers/promises';
import type { Installation } from '../children/installation.ts';

const EVERY_MS = 1_000;

/** Samples the resident memory of the process of all services, in MB. `stop` returns the most. */
export function watchMemory({ env }: Installation): { last(): number; stop(): Promise<number> } {
  const url = `http://127.0.0.1:${env.METRICS_PORT!}/metrics`;
  const stopping = new AbortController();
  const { signal } = stopping;
  let most = 0;
  let last = 0;
  const watching = (async () => {
    while (!signal.aborted) {
      const text = await fetch(url).then(
        (response) => response.text(),
        () => '',
      );
      const bytes = /^process_resident_memory_bytes (\S+)/m.exec(text)?.[1];
      if (bytes !== undefined) last = Math.round(Number(bytes) / 1e6);
      most = Math.max(most, last);
      await wait(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    last: () => last,
    async stop() {
      stopping.abort();
      await watching;
      return most;
    },
  };
}
