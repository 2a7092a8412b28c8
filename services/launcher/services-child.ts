import { join } from 'node:path';
import { COLLECTABLE } from '../../shared/runtime/release-memory.ts';
import { startOwnedProcess } from './engines/owned-process.ts';
import type { OwnedProcess } from './engines/owned-process.ts';

export const SERVICES_MAIN = join(import.meta.dirname, '..', 'services-main.ts');

export const NODE_ARGUMENTS = [
  COLLECTABLE,
  // Node's own code in huge pages, where the system allows it: 24 MB more, for an eighth less processor time of a
  // replay (PROFILES.md).
  '--use-largepages=silent',
  // Megabytes per semi-space of the young generation. By default they grow to 32, without making the matcher faster.
  '--max-semi-space-size=16',
  // Collects the old generation after it has grown by 60 %: by default a third of it was garbage (`bench -- soak`), and
  // with 30 % a replay spent a quarter of its processor time collecting (`bench -- pipeline`).
  '--heap-growing-percent=60',
];

/**
 * glibc's malloc keeps a heap for each thread, and what one of them frees no other uses: in two hours of `bench --
 * soak` such rests grew to a third of the services' memory. With a fixed threshold, in bytes, larger buffers are mapped
 * by themselves and given back.
 *
 * Its large blocks, above all the matcher's index, are backed by huge pages where the system allows it on demand
 * (`/sys/kernel/mm/transparent_hugepage/enabled`, `madvise`).
 */
export const MEMORY_ENVIRONMENT = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};

/** The addresses of the services, which they send when they are ready. */
export interface ServiceAddresses {
  api: string;
  metrics: string;
}

/** What services-main.ts sends. */
type ServicesMessage = ({ type: 'ready' } & ServiceAddresses) | { type: 'fault'; message: string };

export interface ServicesChildDeps {
  env: NodeJS.ProcessEnv;
  pidFile: string;
  /** How long it answers requests after the signal, in milliseconds (DRAIN_SECONDS). */
  drainMs: number;
  /** Resolves when others can find the addresses. */
  onReady: (addresses: ServiceAddresses) => Promise<void>;
  /** A setting is wrong: another start would end the same way. */
  onFault: (message: string) => void;
}

export async function startServices({
  env,
  pidFile,
  drainMs,
  onReady,
  onFault,
}: ServicesChildDeps): Promise<OwnedProcess> {
  const child = await startOwnedProcess({
    name: 'services',
    command: process.execPath,
    args: [...NODE_ARGUMENTS, SERVICES_MAIN],
    env: { ...MEMORY_ENVIRONMENT, ...env },
    pidFile,
    marker: SERVICES_MAIN,
    output: 'inherit',
    ipc: true,
    stopSignal: 'SIGTERM',
    stopDeadlineMs: 20_000 + drainMs,
  });
  child.child.on('message', (message: ServicesMessage) => {
    if (message.type === 'fault') onFault(message.message);
    if (message.type !== 'ready') return;
    void onReady({ api: message.api, metrics: message.metrics }).then(() => {
      // From now on /readyz answers 200. A failed send is ignored: the child has ended.
      if (child.child.connected) child.child.send({ type: 'noted' }, () => undefined);
    });
  });
  return child;
}
