import { join } from 'node:path';
import { COLLECTABLE } from '../../shared/runtime/release-memory.ts';
import { logSize, startOwnedProcess } from './engines/owned-process.ts';
import type { OwnedProcess } from './engines/owned-process.ts';
import { answers, awaitReady } from './engines/readiness.ts';
import type { Config } from '../../shared/runtime/config.ts';

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
