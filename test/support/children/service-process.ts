import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * One service in a process of its own, as a joining start runs it. Like any parent, this starts it again when it ends
 * by itself.
 */
export class ServiceProcess {
  /** The last lines that it printed, over all its lives. */
  output = '';
  /** How often it ended without being asked or killed. */
  ownEnds = 0;
  private readonly service: string;
  private readonly env: NodeJS.ProcessEnv;
  private child: ChildProcess | undefined;
  private isWanted = false;

  /** @param env the three URL variables, and what else the service is to know */
  constructor(service: string, env: NodeJS.ProcessEnv) {
    this.service = service;
    this.env = env;
  }

  start(): void {
    this.isWanted = true;
    const child = spawn(process.execPath, ['services/main.ts', this.service], {
      cwd: ROOT,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    const keep = (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-20_000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('exit', () => {
      if (!this.isWanted || this.child !== child) return;
      this.ownEnds++;
      this.start();
    });
  }

  /** kill -9; resolves when the process is gone. It stays gone until it is started again. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** As an operator stops it. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    this.isWanted = false;
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}
