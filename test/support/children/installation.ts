import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../fixtures/eventually.ts';
import { freePort } from '../fixtures/free-port.ts';
import { killTree, processTree } from './process-tree.ts';

const ROOT = join(import.meta.dirname, '../../..');

export interface Endpoints {
  pid: number;
  api: string;
  metrics: string;
  kafka: string;
  postgres: string;
  clickhouse: string;
  simulator: string;
}

/**
 * The variables of a user's shell. Variables of the test runner, such as BASE_URL, mean something else to the service.
 */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'JAVA_HOME', 'XDG_CACHE_HOME', 'MAVEN_OPTS', 'MAVEN_ARGS'];
  // Not a user's: it makes Node start faster (vitest.config.ts).
  names.push('NODE_COMPILE_CACHE');
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

/** A separate, complete installation: embedded engines, simulator and services, as `npm start` runs them. */
export class Installation {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'forum-test-installation-'));
  readonly env: Record<string, string>;
  output = '';
  private child: ChildProcess | undefined;

  private constructor(env: Record<string, string>) {
    this.env = env;
  }

  /** Prepares an installation for start(): private webhooks allowed, quiet log, free ports. */
  static async prepare(env: Record<string, string> = {}): Promise<Installation> {
    const [port, metricsPort] = [await freePort(), await freePort()];
    return new Installation({
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      WEBHOOK_ALLOW_PRIVATE: '1',
      LOG_LEVEL: 'warn',
      ...env,
    });
  }

  /** The environment of its processes. */
  get fullEnv(): NodeJS.ProcessEnv {
    return { ...inheritedEnvironment(), DATA_DIR: this.dataDir, ...this.env };
  }

  get url(): string {
    return `http://127.0.0.1:${this.env.PORT!}`;
  }

  get pid(): number {
    return this.child!.pid!;
  }

  endpoints(): Endpoints {
    return JSON.parse(readFileSync(join(this.dataDir, 'endpoints.json'), 'utf8')) as Endpoints;
  }

  /** Starts or restarts it and waits until it is ready; returns the duration in milliseconds. */
  async start(timeoutMs = 110_000): Promise<number> {
    const begun = performance.now();
    const child = spawn(process.execPath, ['--expose-gc', 'services/main.ts'], {
      cwd: ROOT,
      env: this.fullEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    const { TEST_LOG_FILE } = process.env;
    const keep = (chunk: Buffer) => {
      this.output = (this.output + chunk.toString()).slice(-1_000_000);
      if (TEST_LOG_FILE !== undefined) appendFileSync(TEST_LOG_FILE, chunk);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    await eventually(
      'the installation is ready',
      async () => {
        if (child.exitCode !== null) return 'ended';
        return (await fetch(`${this.url}/readyz`)).status === 200 && this.endpoints().pid === child.pid;
      },
      timeoutMs,
    ).then(
      (state) => {
        if (state === 'ended') throw new Error(`it ended with ${child.exitCode}:\n${this.output.slice(-5000)}`);
      },
      (error: unknown) => {
        throw new Error(`not ready:\n${this.output.slice(-5000)}`, { cause: error });
      },
    );
    return performance.now() - begun;
  }

  /** Stops it as an operator would; returns the exit code. */
  async stop(): Promise<number | null> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    child.kill('SIGTERM');
    return ended;
  }

  /** kill -9 of every process at once. */
  async killAll(): Promise<void> {
    const child = this.child!;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    killTree(child.pid!);
    await ended;
  }

  /**
   * The process whose command line contains `part`; not the shell that runs it, nor a child that was just forked and
   * has its parent's command line until it changes it, as PostgreSQL's have.
   */
  find(part: string): number | undefined {
    const tree = processTree(this.pid);
    const commandOf = new Map(tree.map(({ pid, command }) => [pid, command]));
    return tree.findLast(({ pid, parent, command }) => {
      return pid !== this.pid && command.includes(part) && commandOf.get(parent) !== command;
    })?.pid;
  }

  /** kill -9 of the one process whose command line contains `part`; returns its pid. */
  killOne(part: string): number {
    const pid = this.find(part);
    if (pid === undefined) throw new Error(`no process of the installation has ${part} in its command line`);
    process.kill(pid, 'SIGKILL');
    return pid;
  }

  /** Runs `npm run --silent admin -- …` and returns its one JSON line. */
  admin(...args: string[]): Record<string, unknown> {
    const run = spawnSync(process.execPath, ['services/admin/main.ts', ...args], { cwd: ROOT, env: this.fullEnv });
    if (run.status !== 0) throw new Error(`admin ${args.join(' ')} failed: ${run.stderr.toString()}`);
    return JSON.parse(run.stdout.toString()) as Record<string, unknown>;
  }

  /**
   * Sends a request to the API with a key. Returns status, headers and parsed body. Waits and retries if the API asks
   * for it.
   */
  async call(
    key: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; headers: Headers; body: unknown }> {
    for (;;) {
      const response = await fetch(this.url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer: unknown = await response.json();
      if (response.status !== 429) return { status: response.status, headers: response.headers, body: answer };
      await wait(Number(response.headers.get('retry-after')) * 1_000);
    }
  }

  /** Stops it in any state and removes its files. */
  async remove(): Promise<void> {
    if (this.child && this.child.exitCode === null && this.child.signalCode === null) {
      const code = await Promise.race([
        this.stop(),
        new Promise((resolve) => setTimeout(() => resolve('late'), 30_000)),
      ]);
      if (code === 'late') await this.killAll();
    }
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
