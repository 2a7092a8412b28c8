import { join } from 'node:path';
import type { Config } from '../../shared/runtime/config.ts';
import { COLLECTABLE } from '../../shared/runtime/lifecycle.ts';
import { answers, awaitReady, logSize, startOwnedProcess } from './engines/owned-process.ts';
import type { OwnedProcess } from './engines/owned-process.ts';

export const SERVICES_MAIN = join(import.meta.dirname, '..', 'services-main.ts');

export const NODE_ARGUMENTS = [
  COLLECTABLE,
  // Node's own code in huge pages, where the system allows it: 24 MB more, for an eighth less processor time of a
  // replay (docs/design/benchmarks.md).
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

const MAIN = join(import.meta.dirname, '..', 'simulator', 'main.ts');

export interface SimulatorChildDeps {
  config: Config;
  env: NodeJS.ProcessEnv;
  port: number;
  pidFile: string;
  signal: AbortSignal;
}

/** Starts the simulator of the forum and waits until it answers. @throws StartFault */
export async function startSimulator(options: SimulatorChildDeps): Promise<OwnedProcess> {
  const { config, env, port, pidFile, signal } = options;
  const log = join(config.dataDir, 'logs', 'simulator.log');
  const logFrom = logSize(log);
  const child = await startOwnedProcess({
    name: 'simulator',
    command: process.execPath,
    args: [COLLECTABLE, MAIN],
    env: {
      ...env,
      DATA_DIR: config.dataDir,
      SIMULATOR_PORT: String(port),
      SIMULATOR_RATE: String(config.simulatorRate),
    },
    pidFile,
    marker: MAIN,
    output: log,
    stopSignal: 'SIGTERM',
    stopDeadlineMs: 5_000,
  });
  const probe = () => answers(`http://127.0.0.1:${port}/healthz`);
  await awaitReady({ process: child, probe, deadlineMs: 30_000, log, logFrom, signal });
  return child;
}
