import { delay } from '../shared/runtime/clock.ts';
import type { Clock } from '../shared/runtime/clock.ts';
import { withDeadline } from '../shared/runtime/lifecycle.ts';
import type { Installation } from './connect-engines.ts';

type Probe = () => boolean | Promise<boolean>;

/** A part that does not answer a probe within this time counts as not ready. */
const PROBE_MS = 2_500;
/** How long all parts must have been ready, without a break, before the start is complete. */
const SETTLED_MS = 250;
/** ClickHouse may answer and yet refuse the archiver's tables, for example on a full disk. */
const OPTIONAL_WITHIN_MS = 10_000;
/** A service that was ready counts as ready for this long: its group rebalances whenever a process joins or leaves. */
const LAPSE_MS = 5_000;
/** Reading, pages and webhooks work without these, so /readyz names them and answers 200. */
const OPTIONAL: ReadonlySet<string> = new Set(['clickhouse', 'archiver']);
/** A process with the API alone needs Kafka only to tell streams of new matches sooner. */
const OPTIONAL_FOR_API: ReadonlySet<string> = new Set([...OPTIONAL, 'kafka']);
/** Without them a process with the archiver alone only deletes removed content from Postgres. */
const OPTIONAL_FOR_ARCHIVER: ReadonlySet<string> = new Set();

export interface ReadinessDeps extends Pick<Installation, 'pool' | 'clickhouse' | 'kafka'> {
  /** The services that this process starts: until each has been added, it is listed as not ready. */
  services: readonly string[];
  /** Milliseconds; never goes back. */
  monotonic?: Clock;
}

export class Readiness {
  private readonly engines = new Map<string, Probe>();
  private readonly services = new Map<string, Probe>();
  private readonly halts = new Map<string, () => boolean>();
  private readonly wereReady = new Set<string>();
  /** When `answer` first found a service not ready that was ready before. */
  private readonly missingSince = new Map<string, number>();
  /** A probe that hangs is not started again before it ends: it may occupy a connection. */
  private readonly running = new Map<string, Promise<boolean>>();
  private readonly monotonic: Clock;
  private readonly optional: ReadonlySet<string>;
  private isAnnounced = false;
  private isStopping = false;

  constructor({ pool, clickhouse, kafka, services, monotonic = () => performance.now() }: ReadinessDeps) {
    this.monotonic = monotonic;
    this.optional = optionalFor(services);
    this.engines.set('postgres', async () => (await pool.query('SELECT 1')).rowCount === 1);
    this.engines.set('clickhouse', async () => (await clickhouse.ping()).success);
    this.engines.set('kafka', () =>
      kafka.withAdmin(async (admin) => (await admin.describeCluster()).brokers.length > 0),
    );
    for (const service of services) this.services.set(service, () => false);
  }

  /** @param isHalted whether it waits for an operator: it is not ready, and a start does not wait for it */
  add(service: string, probe: Probe, isHalted: () => boolean = () => false): void {
    this.services.set(service, probe);
    this.halts.set(service, isHalted);
  }

  /** Takes as long as the slowest part, at most PROBE_MS. A probe that throws counts as not ready. */
  async check(): Promise<{ ready: boolean; parts: Record<string, boolean> }> {
    const answers = await Promise.all(
      [...this.engines, ...this.services].map(async ([part, probe]): Promise<[string, boolean]> => [
        part,
        await this.runProbe(part, probe),
      ]),
    );
    for (const [part, isReady] of answers) if (isReady && this.services.has(part)) this.wereReady.add(part);
    const parts = Object.fromEntries(answers);
    return { ready: this.allWork(parts), parts };
  }

  private allWork(parts: Record<string, boolean>, excluded: ReadonlySet<string> = new Set()): boolean {
    return Object.entries(parts).every(([part, isReady]) => isReady || this.optional.has(part) || excluded.has(part));
  }

  /** Called once the addresses are published. Until then `answer` says no, so a client that reads yes finds them. */
  markAnnounced(): void {
    this.isAnnounced = true;
  }

  /** From now on `answer` says no, so that load balancers choose other processes. */
  markStopping(): void {
    this.isStopping = true;
  }

  /**
   * The answer of /readyz: no until everything has started, and then without short lapses. Excluded parts do not count.
   */
  async answer(excluded: ReadonlySet<string> = new Set()): Promise<{ ready: boolean; parts: Record<string, boolean> }> {
    const { parts } = await this.check();
    const now = this.monotonic();
    for (const service of this.services.keys()) {
      if (parts[service] === true) this.missingSince.delete(service);
      else if (this.wereReady.has(service)) parts[service] = this.isLapse(service, now);
    }
    return { ready: this.allWork(parts, excluded) && this.isAnnounced && !this.isStopping, parts };
  }

  private isLapse(service: string, now: number): boolean {
    const since = this.missingSince.get(service) ?? now;
    this.missingSince.set(service, since);
    return now - since < LAPSE_MS;
  }

  /**
   * Until all parts have been ready for SETTLED_MS: a consumer may lose its first assignment at once. Waits for
   * optional parts, unless ClickHouse is unavailable, only OPTIONAL_WITHIN_MS longer. Resolves early on abort.
   */
  async untilReady(signal: AbortSignal): Promise<void> {
    // When the required parts, and all parts, were first found ready, without a break since.
    let workingSince: number | undefined;
    let completeSince: number | undefined;
    while (!signal.aborted) {
      const { parts } = await this.check();
      for (const [service, isHalted] of this.halts) if (isHalted()) parts[service] = true;
      const ready = this.allWork(parts);
      const now = this.monotonic();
      const isComplete = ready && (parts.clickhouse === false || Object.values(parts).every(Boolean));
      workingSince = ready ? (workingSince ?? now) : undefined;
      completeSince = isComplete ? (completeSince ?? now) : undefined;
      if (completeSince !== undefined && now - completeSince >= SETTLED_MS) return;
      if (workingSince !== undefined && now - workingSince >= OPTIONAL_WITHIN_MS) return;
      await delay(50, signal);
    }
  }

  private async runProbe(part: string, probe: Probe): Promise<boolean> {
    let answer = this.running.get(part);
    if (answer === undefined) {
      answer = (async () => probe())().finally(() => this.running.delete(part));
      this.running.set(part, answer);
    }
    return withDeadline(answer, PROBE_MS, 'no answer').catch(() => false);
  }
}

/** The parts without which a process with these services still does its work. */
function optionalFor(services: readonly string[]): ReadonlySet<string> {
  if (services.every((service) => service === 'api')) return OPTIONAL_FOR_API;
  return services.every((service) => service === 'archiver') ? OPTIONAL_FOR_ARCHIVER : OPTIONAL;
}
