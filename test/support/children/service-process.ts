import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
/** More than the services' own deadlines together. */
const ENDS_WITHIN_MS = 60_000;

/**
 * Services in a separate process, like a joining start. As any parent would, it restarts the process when it ends
 * unexpectedly.
 */
export class ServiceProcess {
  /** The last lines that it printed, across restarts. */
  output = '';
  /** How often it ended without being stopped or killed. */
  ownEnds = 0;
  private readonly services: readonly string[];
  private readonly env: NodeJS.ProcessEnv;
  private readonly ownSession: boolean;
  private child: ChildProcess | undefined;
  private isWanted = false;

  /**
   * @param env the three URL variables, and what else the services are to know
   * @param options.ownSession it runs in a session of its own, as with any operator, which matters where processor time
   * is short: Linux shares it out among sessions. It is killed when this process exits.
   */
  constructor(services: string | readonly string[], env: NodeJS.ProcessEnv, options: { ownSession?: boolean } = {}) {
    this.services = typeof services === 'string' ? [services] : services;
    this.env = env;
    this.ownSession = options.ownSession ?? false;
  }

  start(): void {
    this.isWanted = true;
    const child = spawn(process.execPath, ['services/main.ts', ...this.services], {
      cwd: ROOT,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: this.ownSession,
    });
    this.child = child;
    const killed = () => child.kill('SIGKILL');
    process.once('exit', killed);
    const keep = (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-20_000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('exit', () => {
      process.off('exit', killed);
      if (!this.isWanted || this.child !== child) return;
      this.ownEnds++;
      this.start();
    });
  }

  /** Undefined before the start. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** kill -9; resolves when the process has ended. It stays stopped until it is started again. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** Stops it as an operator would. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** What a closed terminal sends; returns the exit code. */
  async hangUp(): Promise<number | null> {
    await this.end('SIGHUP');
    return this.child?.exitCode ?? null;
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    this.isWanted = false;
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    const hanging = new AbortController();
    const timer = setTimeout(() => {
      hanging.abort();
      child.kill('SIGKILL');
    }, ENDS_WITHIN_MS);
    await ended;
    clearTimeout(timer);
    if (hanging.signal.aborted)
      throw new Error(`${this.services.join(' ')} did not end within ${ENDS_WITHIN_MS} ms of ${signal}`);
  }
}
