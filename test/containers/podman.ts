import { spawn } from 'node:child_process';

/** Runs a program to its end. Returns what it printed. @throws Error with the end of its output */
export async function run(command: string, ...args: string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let all = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    all += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => (all += chunk.toString()));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${String(code)}:\n${all.slice(-4_000)}`);
  return stdout.trim();
}

export const podman = (...args: string[]) => run('podman', ...args);

/** `docker compose` with the options of docs/operate/deploy.md for a trial, and the override. */
export const compose = (...args: string[]) => composeWith([], ...args);

export function composeWith(options: readonly string[], ...args: string[]): Promise<string> {
  const files = ['-f', '/project/deploy/compose.yaml', '-f', '/project/test/containers/override.yaml'];
  return run('podman-compose', ...files, '--env-file', '/tmp/containers.env', ...options, ...args);
}

/** Runs a stage and prints how many seconds it took. */
export async function stage<T>(name: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${name}`);
  return result;
}
