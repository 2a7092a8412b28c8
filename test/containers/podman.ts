import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export const ENV_FILE = '/tmp/containers.env';

/** Runs a program to its end. Returns what it printed. @throws Error with the end of its output */
export async function run(command: string, ...args: string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let all = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (all += chunk.toString()));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${String(code)}:\n${all.slice(-4_000)}`);
  return printed.trim();
}

/** The folder of the programs that go-programs.sh has built by this name, if it could. */
export function programs(name: string): string | undefined {
  const folder = existsSync('/images/go') && readdirSync('/images/go').find((file) => file.startsWith(`${name}-`));
  return folder ? `/images/go/${folder}` : undefined;
}

export const podman = (...args: string[]) => run('podman', ...args);

/** `docker compose` with the options of deploy/README.md for a trial, and the override. */
export function composeWith(options: readonly string[], ...args: string[]): Promise<string> {
  const names = ['deploy/compose.yaml', 'test/containers/override.yaml', 'test/containers/neighbours/compose.yaml'];
  const files = names.flatMap((name) => ['-f', `/project/${name}`]);
  return run('podman-compose', ...files, '--env-file', ENV_FILE, ...options, ...args);
}
export const compose = (...args: string[]) => composeWith([], ...args);

/** The service's container. */
export const container = (service: string) => `forum-monitor_${service}_1`;

export const inspect = (service: string, field: string) =>
  podman('inspect', '--format', `{{${field}}}`, container(service));

const isHealthy = (service: string) =>
  podman('healthcheck', 'run', container(service)).then(
    () => true,
    () => false,
  );

/** Runs the health checks of compose and of the image until each has passed. */
export async function untilHealthy(services: readonly string[], seconds = 180): Promise<void> {
  const started = performance.now();
  for (const service of services) {
    while (!(await isHealthy(service))) {
      if (performance.now() - started > seconds * 1_000) {
        throw new Error(`${service} is not healthy:\n${await podman('logs', '--tail', '20', container(service))}`);
      }
      await wait(500);
    }
  }
}

/** `compose up --detach`, which waits for the health of what a service depends on, and then for its own. */
export async function up(services: readonly string[], ...options: string[]): Promise<void> {
  const checking = { isOver: false };
  const checks = (async () => {
    while (!checking.isOver) {
      for (const service of ['kafka', 'postgres', 'clickhouse']) await isHealthy(service);
      await wait(1_000);
    }
  })();
  try {
    await compose('up', '--detach', ...options, ...services);
  } finally {
    checking.isOver = true;
    await checks;
  }
  await untilHealthy(services);
}

/** The process of a container as this namespace knows it. */
export const processOf = (service: string) => inspect(service, '.State.Pid').then(Number, () => 0);

/** Kills a container's process, as a crash does, and waits until compose's restart policy has brought it back. */
export async function killAndAwait(service: string): Promise<number> {
  const killed = await processOf(service);
  const started = performance.now();
  process.kill(killed, 'SIGKILL');
  while (existsSync(`/proc/${killed}`) || [0, killed].includes(await processOf(service))) await wait(100);
  await untilHealthy([service]);
  return (performance.now() - started) / 1_000;
}

/** A setting for every later command of compose. */
export const set = (name: string, value: string) => appendFileSync(ENV_FILE, `${name}=${value}\n`);

/** Runs a stage and prints how many seconds it took, and what it returns. */
export async function stage(name: string, work: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  const result = await work();
  const seconds = ((performance.now() - started) / 1_000).toFixed(1).padStart(6);
  console.log(`${seconds} s  ${name}${typeof result === 'string' ? `: ${result}` : ''}`);
}
