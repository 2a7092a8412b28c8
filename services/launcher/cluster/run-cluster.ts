import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { whenAborted } from '../../../shared/runtime/abort.ts';
import { delay, systemClock } from '../../../shared/runtime/clock.ts';
import { readEndpoints } from '../../../shared/runtime/endpoints-file.ts';
import { DataDirLock } from '../engines/data-dir-lock.ts';
import { startOwnedProcess } from '../engines/owned-process.ts';
import type { OwnedProcess } from '../engines/owned-process.ts';
import { StartFault } from '../engines/start-fault.ts';
import { Supervisor } from '../supervisor.ts';
import { startClusterEngines } from './cluster-engines.ts';
import type { ClusterEngines } from './cluster-engines.ts';

export interface ClusterRun {
  /** Absolute path. */
  dataDir: string;
  env: NodeJS.ProcessEnv;
  brokers: number;
  /** Processes of each service but the API; the first process has all of them and the API. */
  processes: number;
  synchronous: boolean;
  progress: (line: string) => void;
  signal: AbortSignal;
}

const MAIN = join(import.meta.dirname, '..', '..', 'main.ts');
/** What the processes beside the first one do. */
const BESIDE = ['archiver', 'biller', 'crawler', 'deliverer', 'matcher', 'recorder'];
const READY_MS = 120_000;

/**
 * Runs a whole installation on a cluster of this host until the signal aborts, for trials. A process that ends is
 * started again; when Postgres's primary ends, its standby is promoted.
 *
 * @throws StartFault when another one runs on the directory, when it cannot start, or when a process ends too often
 */
export async function runCluster(options: ClusterRun): Promise<void> {
  const { dataDir, progress, signal } = options;
  const lock = await DataDirLock.acquire(dataDir, { progress, signal });
  const markStopping = () => {
    lock.markStopping();
  };
  signal.addEventListener('abort', markStopping);
  try {
    await runLocked(options);
  } finally {
    signal.removeEventListener('abort', markStopping);
    lock.release();
  }
}

async function runLocked(options: ClusterRun): Promise<void> {
  const { dataDir, progress, signal } = options;
  const engines = await startClusterEngines(options);
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined);
  const giveUp = (reason: string) => reject(new StartFault(reason));
  const supervisor = new Supervisor({ clock: systemClock, wait: delay, progress, warn: progress, giveUp });
  const env = { ...options.env, ...engines.env, DATA_DIR: join(dataDir, 'services') };
  try {
    superviseBrokers(supervisor, engines, options.brokers);
    await superviseProcess(supervisor, { name: 'services 1', services: [], env });
    await untilReady(join(dataDir, 'services'), signal);
    // The first process has the port of METRICS_PORT.
    const { METRICS_PORT: _first, ...joining } = env as NodeJS.ProcessEnv;
    for (let number = 2; number <= options.processes; number++) {
      await superviseProcess(supervisor, { name: `services ${number}`, services: BESIDE, env: joining });
    }
    progress(`the cluster runs: kill any process and watch; ${engines.env.KAFKA_BROKERS.split(',').length} brokers`);
    await Promise.race([broken, whenAborted(signal)]);
  } finally {
    await supervisor.stop();
    await engines.stop();
  }
}

function superviseBrokers(supervisor: Supervisor, { kafka }: ClusterEngines, brokers: number): void {
  for (let node = 1; node <= brokers; node++) {
    const start = async () => {
      await kafka.restart(node);
      return kafka.process(node);
    };
    // The others go on without it, so the services need not wait for it.
    supervisor.supervise({
      name: `broker ${node}`,
      kind: 'engine',
      process: kafka.process(node),
      start,
      isOptional: true,
    });
  }
}

interface ServicesProcess {
  name: string;
  /** All when none is named. */
  services: readonly string[];
  env: NodeJS.ProcessEnv;
}

async function superviseProcess(supervisor: Supervisor, { name, services, env }: ServicesProcess): Promise<void> {
  const start = (): Promise<OwnedProcess> =>
    startOwnedProcess({
      name,
      command: process.execPath,
      args: [MAIN, ...services],
      env,
      pidFile: join(env.DATA_DIR!, '..', 'run', `${name.replace(' ', '-')}.pid`),
      marker: MAIN,
      output: 'inherit',
      stopSignal: 'SIGTERM',
      stopDeadlineMs: 30_000,
    });
  supervisor.supervise({ name, kind: 'services', process: await start(), start });
}

async function untilReady(dataDir: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (readEndpoints(dataDir) === undefined) {
    if (signal.aborted) return;
    if (performance.now() > deadline) throw new StartFault(`The services were not ready within ${READY_MS / 1_000} s.`);
    await wait(200);
  }
}
