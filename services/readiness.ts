import { delay } from '../shared/runtime/clock.ts';
import type { Installation } from './connect-engines.ts';

type Probe = () => boolean | Promise<boolean>;

/** A part that does not answer a probe within this time counts as not ready. */
const PROBE_MS = 2_500;
/** Reading, pages and webhooks work without these, so /readyz names them and answers 200. */
const OPTIONAL: ReadonlySet<string> = new Set(['clickhouse', 'archiver']);

/** Whether the engines and the services of this process answer. */
export class Readiness {
  private readonly probes = new Map<string, Probe>();
  /** A probe that hangs is not started again before it ends: it may occupy a connection. */
  private readonly running = new Map<string, Promise<boolean>>();
  private isAnnounced = false;

  constructor({ pool, clickhouse, kafka }: Pick<Installation, 'pool' | 'clickhouse' | 'kafka'>) {
    this.add('postgres', async () => (await pool.query('SELECT 1')).rowCount === 1);
    this.add('clickhouse', async () => (await clickhouse.ping()).success);
    this.add('kafka', () => kafka.withAdmin(async (admin) => (await admin.describeCluster()).brokers.length > 0));
  }

  add(part: string, probe: Probe): void {
    this.probes.set(part, probe);
  }

  /** Takes as long as the slowest part, at most PROBE_MS. A probe that throws counts as not ready. */
  async check(): Promise<{ ready: boolean; parts: Record<string, boolean> }> {
    const answers = await Promise.all(
      [...this.probes].map(async ([part, probe]): Promise<[string, boolean]> => [
        part,
        await this.runProbe(part, probe),
      ]),
    );
    const ready = answers.every(([part, isReady]) => isReady || OPTIONAL.has(part));
    return { ready, parts: Object.fromEntries(answers) };
  }

  /** Called once the addresses are published. Until then `answer` says no, so a client that reads yes finds them. */
  markAnnounced(): void {
    this.isAnnounced = true;
  }

  /** The answer of /readyz. */
  async answer(): Promise<{ ready: boolean; parts: Record<string, boolean> }> {
    const { ready, parts } = await this.check();
    return { ready: ready && this.isAnnounced, parts };
  }

  /** Waits for the optional parts too, unless ClickHouse is away. Resolves early when the signal aborts. */
  async untilReady(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { ready, parts } = await this.check();
      if (ready && (parts.clickhouse === false || Object.values(parts).every(Boolean))) return;
      await delay(50, signal);
    }
  }

  private async runProbe(part: string, probe: Probe): Promise<boolean> {
    let answer = this.running.get(part);
    if (answer === undefined) {
      answer = answerOf(probe).finally(() => this.running.delete(part));
      this.running.set(part, answer);
    }
    const timeout = new AbortController();
    try {
      return await Promise.race([answer, delay(PROBE_MS, timeout.signal).then(() => false)]);
    } finally {
      timeout.abort();
    }
  }
}

async function answerOf(probe: Probe): Promise<boolean> {
  try {
    return await probe();
  } catch {
    return false;
  }
}
