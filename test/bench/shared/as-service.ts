import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MEMORY_ENVIRONMENT, NODE_ARGUMENTS } from '../../../services/launcher/child-processes.ts';

const MARK = 'BENCH_RUNS_AS_SERVICE';

/** Whether `runAsService` started this process. */
export function isRunAsService(): boolean {
  return process.env[MARK] === '1';
}

/** Runs this program again with the arguments and the environment of the services, and ends as it ends. */
export async function runAsService(): Promise<never> {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, ...process.argv.slice(1)], {
    env: { ...MEMORY_ENVIRONMENT, ...process.env, [MARK]: '1' },
    stdio: 'inherit',
  });
  process.once('exit', () => child.kill());
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exit(code ?? 1);
}
