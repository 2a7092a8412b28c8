import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { MEMORY_ENVIRONMENT, NODE_ARGUMENTS } from '../../../services/launcher/child-processes.ts';
import type { MatcherChildJob, MatcherChildMessage, MatcherChildOrder } from './matcher-service-child.ts';

type Event = MatcherChildMessage['event'];
type Told<E extends Event> = Extract<MatcherChildMessage, { event: E }>;

const TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 5_000;

/** The measured process, which runs with the arguments and the environment of the services, and its messages. */
export class MatcherProcess {
  private readonly child: ChildProcess;
  private readonly told: MatcherChildMessage[] = [];
  private readonly news = new EventEmitter();

  constructor() {
    this.child = fork(join(import.meta.dirname, 'matcher-service-child.ts'), {
      execArgv: NODE_ARGUMENTS,
      env: { ...MEMORY_ENVIRONMENT, ...process.env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child.on('message', (message: MatcherChildMessage) => this.receive(message));
    this.child.on('exit', () => this.receive({ event: 'failed', reason: 'the process ended' }));
  }

  start(job: MatcherChildJob): void {
    this.child.send(job);
  }

  /**
   * The oldest message of this kind that was not returned yet, or the next one.
   *
   * @throws when the process fails, or after two minutes
   */
  async next<E extends Event>(event: E): Promise<Told<E>> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    for (;;) {
      const index = this.told.findIndex((message) => message.event === event);
      if (index >= 0) return this.told.splice(index, 1)[0] as Told<E>;
      const failed = this.told.find((message) => message.event === 'failed');
      if (failed) throw new Error(`the matcher failed: ${failed.reason}`);
      await once(this.news, 'told', { signal });
    }
  }

  /** The memory now, and the processor time and the longest delay of the event loop since the last call. */
  async measured(): Promise<object> {
    this.order('measure');
    const { event: _, ...measured } = await this.next('measured');
    return measured;
  }

  /** Stops it so that it can leave its consumer group. */
  async stop(): Promise<void> {
    if (this.hasEnded()) return;
    this.order('stop');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await once(this.child, 'exit');
    clearTimeout(timer);
  }

  private hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  private order(order: MatcherChildOrder): void {
    this.child.send(order);
  }

  private receive(message: MatcherChildMessage): void {
    this.told.push(message);
    this.news.emit('told');
  }
}
