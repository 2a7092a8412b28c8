import { errorMessage } from '../../shared/runtime/errors.ts';
import type { OwnedProcess, ProcessEnd } from './engines/owned-process.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

/** Kinds are stopped in this order, processes of one kind in parallel: each before the ones that it needs. */
const STOP_ORDER = ['services', 'simulator', 'engine'] as const;

/** A death of the services within this time of an engine's end or restart is attributed to the engine. */
const ENGINE_TROUBLE_MS = 30_000;

const EXTERNAL_CAUSE_MS = 1_000;

export interface SupervisedProcess {
  name: string;
  kind: (typeof STOP_ORDER)[number];
  process: OwnedProcess;
  start(): Promise<OwnedProcess>;
  /** True for an engine that the services can start without. */
  isOptional?: boolean;
  /** Returns a temporary external cause of a death, such as a full disk, or undefined. Such deaths do not count. */
  externalCause?: () => Promise<string | undefined>;
}

export interface SupervisorDeps {
  clock: Clock;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  progress: (line: string) => void;
  warn: (line: string) => void;
  /** Called once, when a process has ended too often. */
  giveUp: (reason: string) => void;
}

/** Restarts processes that end; the services only while every engine that they need is running. */
export class Supervisor {
  private readonly options: SupervisorDeps;
  private readonly processes: SupervisedProcess[] = [];
  private readonly watches: Promise<void>[] = [];
  private readonly enginesDown = new Set<string>();
  private engineTroubleAt = Number.NEGATIVE_INFINITY;
  private readonly stopping = new AbortController();

  constructor(options: SupervisorDeps) {
    this.options = options;
  }

  supervise(supervised: SupervisedProcess): void {
    this.processes.push(supervised);
    this.watches.push(this.watch(supervised));
  }

  /** Stops everything in order and restarts nothing. Resolves when all processes have ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const kind of STOP_ORDER) {
      await Promise.all(
        this.processes.filter(({ kind: other }) => other === kind).map(({ process }) => process.stop()),
      );
    }
    await Promise.all(this.watches);
  }

  private async watch(supervised: SupervisedProcess): Promise<void> {
    const policy = new RestartPolicy(this.options.clock);
    for (;;) {
      let reason = describe(await supervised.process.exited);
      for (let running = false; !running;) {
        if (this.stopping.signal.aborted) return;
        if (!(await this.pause(supervised, policy, reason))) return;
        try {
          supervised.process = await supervised.start();
          running = true;
        } catch (error) {
          reason = errorMessage(error);
        }
      }
      policy.started();
      this.recordEngineState(supervised, true);
      if (this.stopping.signal.aborted) await supervised.process.stop();
    }
  }

  private async pause(supervised: SupervisedProcess, policy: RestartPolicy, ended: string): Promise<boolean> {
    const externalCause = await supervised.externalCause?.();
    const reason = externalCause === undefined ? ended : `${ended}; ${externalCause}`;
    const counts = supervised.kind !== 'services' || !this.hasEngineTrouble();
    this.recordEngineState(supervised, false);
    if (externalCause !== undefined) return this.outwait(supervised, reason);
    const afterMs = policy.died(counts);
    if (afterMs === undefined) {
      this.options.giveUp(`${supervised.name} ended five times within a minute; the last reason: ${reason}`);
      return false;
    }
    this.options.warn(`${supervised.name} ended (${reason}); it restarts in ${afterMs / 1000} s`);
    await this.options.wait(afterMs, this.stopping.signal);
    while (supervised.kind === 'services' && this.enginesDown.size > 0 && !this.stopping.signal.aborted) {
      await this.options.wait(100, this.stopping.signal);
    }
    return !this.stopping.signal.aborted;
  }

  /** Waits until the external cause has ended, however long that takes: starting before would only fail again. */
  private async outwait({ name, externalCause }: SupervisedProcess, reason: string): Promise<boolean> {
    const { warn, progress, wait } = this.options;
    warn(`${name} ended (${reason}); it restarts when that is over`);
    while (!this.stopping.signal.aborted && (await externalCause?.()) !== undefined) {
      await wait(EXTERNAL_CAUSE_MS, this.stopping.signal);
    }
    if (!this.stopping.signal.aborted) progress(`${name} restarts`);
    return !this.stopping.signal.aborted;
  }

  private hasEngineTrouble(): boolean {
    return this.enginesDown.size > 0 || this.options.clock() - this.engineTroubleAt < ENGINE_TROUBLE_MS;
  }

  private recordEngineState(supervised: SupervisedProcess, up: boolean): void {
    if (supervised.kind !== 'engine') return;
    this.engineTroubleAt = this.options.clock();
    if (up) this.enginesDown.delete(supervised.name);
    else if (supervised.isOptional !== true) this.enginesDown.add(supervised.name);
    if (up) this.options.progress(`${supervised.name} has restarted`);
  }
}

function describe(end: ProcessEnd): string {
  return end.signal === null ? `exit code ${end.code ?? 'unknown'}` : end.signal;
}

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;
const WINDOW_MS = 60_000;
const MAX_DEATHS = 5;

/**
 * Restarts after 1 s, then after twice as long each time up to 30 s; from 1 s again once it has run for a minute.
 * Gives up after it ended five times within a minute.
 */
class RestartPolicy {
  private readonly clock: Clock;
  private startedAt: number;
  private waitMs = MIN_WAIT_MS;
  private deaths: number[] = [];

  constructor(clock: Clock) {
    this.clock = clock;
    this.startedAt = clock();
  }

  started(): void {
    this.startedAt = this.clock();
  }

  /**
   * How long to wait; undefined: give up.
   *
   * @param counts false for a death with another cause than the process: it restarts after the shortest wait
   */
  died(counts: boolean): number | undefined {
    if (!counts) return MIN_WAIT_MS;
    const now = this.clock();
    if (now - this.startedAt >= WINDOW_MS) this.waitMs = MIN_WAIT_MS;
    this.deaths = [...this.deaths.filter((diedAt) => now - diedAt < WINDOW_MS), now];
    if (this.deaths.length >= MAX_DEATHS) return undefined;
    const afterMs = this.waitMs;
    this.waitMs = Math.min(this.waitMs * 2, MAX_WAIT_MS);
    return afterMs;
  }
}
