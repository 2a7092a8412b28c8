import { errorMessage } from '../../shared/runtime/errors.ts';
import type { OwnedProcess, ProcessEnd } from './engines/owned-process.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { RestartPolicy } from './restart-policy.ts';

/** Stopped in this order, each kind in parallel: whoever needs another goes first. */
const STOP_ORDER = ['services', 'simulator', 'engine'] as const;

/** A death of the services this soon after an engine's trouble is the engine's doing. */
const EXCUSE_MS = 30_000;

export interface Part {
  name: string;
  kind: (typeof STOP_ORDER)[number];
  /** The living process, already started. */
  process: OwnedProcess;
  start(): Promise<OwnedProcess>;
  /** An engine that the services can be started without: they need not wait for it. */
  isOptional?: boolean;
  /** Why a death now is not the process's own doing, and will pass; undefined: it is. Such deaths are not counted. */
  excuse?: () => Promise<string | undefined>;
}

export interface SupervisorDeps {
  clock: Clock;
  /** Waits; ends early when the signal aborts. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  progress: (line: string) => void;
  /** Called once, when a process cannot be kept alive. */
  giveUp: (reason: string) => void;
}

/**
 * Keeps processes alive. Each part is running, or waiting for its next start. The services are only started while every
 * engine that they need is running; an engine that died does not end them, they wait for it.
 */
export class Supervisor {
  private readonly options: SupervisorDeps;
  private readonly parts: Part[] = [];
  private readonly watches: Promise<void>[] = [];
  private readonly enginesDown = new Set<string>();
  private engineTroubleAt = Number.NEGATIVE_INFINITY;
  private readonly stopping = new AbortController();

  constructor(options: SupervisorDeps) {
    this.options = options;
  }

  keep(part: Part): void {
    this.parts.push(part);
    this.watches.push(this.watch(part));
  }

  /** Stops everything in order; nothing is started again. Resolves when all processes have ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const kind of STOP_ORDER) {
      await Promise.all(this.parts.filter((part) => part.kind === kind).map((part) => part.process.stop()));
    }
    await Promise.all(this.watches);
  }

  private async watch(part: Part): Promise<void> {
    const policy = new RestartPolicy(this.options.clock);
    for (;;) {
      let reason = describe(await part.process.exited);
      for (let running = false; !running;) {
        if (this.stopping.signal.aborted) return;
        if (!(await this.pause(part, policy, reason))) return;
        try {
          part.process = await part.start();
          running = true;
        } catch (error) {
          reason = errorMessage(error);
        }
      }
      policy.started();
      this.noteEngine(part, true);
      if (this.stopping.signal.aborted) await part.process.stop();
    }
  }

  /** Waits as long as the policy says; false when the part is not to be started again. */
  private async pause(part: Part, policy: RestartPolicy, ended: string): Promise<boolean> {
    const excuse = await part.excuse?.();
    const reason = excuse === undefined ? ended : `${ended}; ${excuse}`;
    const counts = part.kind !== 'services' || !this.isExcused();
    this.noteEngine(part, false);
    const verdict = excuse === undefined ? policy.died(counts) : policy.diedExcused();
    if (verdict.action === 'give-up') {
      this.options.giveUp(`${part.name} died five times within a minute; the last time: ${reason}`);
      return false;
    }
    this.options.progress(`${part.name} ended (${reason}); it is started again in ${verdict.afterMs / 1000} s`);
    await this.options.wait(verdict.afterMs, this.stopping.signal);
    while (part.kind === 'services' && this.enginesDown.size > 0 && !this.stopping.signal.aborted) {
      await this.options.wait(100, this.stopping.signal);
    }
    return !this.stopping.signal.aborted;
  }

  private isExcused(): boolean {
    return this.enginesDown.size > 0 || this.options.clock() - this.engineTroubleAt < EXCUSE_MS;
  }

  private noteEngine(part: Part, up: boolean): void {
    if (part.kind !== 'engine') return;
    this.engineTroubleAt = this.options.clock();
    if (up) this.enginesDown.delete(part.name);
    else if (part.isOptional !== true) this.enginesDown.add(part.name);
    if (up) this.options.progress(`${part.name} is back`);
  }
}

function describe(end: ProcessEnd): string {
  return end.signal === null ? `exit code ${end.code ?? 'unknown'}` : end.signal;
}
