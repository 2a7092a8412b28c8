import { delay } from '../shared/runtime/clock.ts';
import type { Installation } from './connect-engines.ts';

type Probe = () => boolean | Promise<boolean>;

/** A part that says nothing for so long does not answer. */
const PROBE_MS = 2_500;
/** Reading, pages and webhooks work without them: they tell of themselves only. */
const OPTIONAL: ReadonlySet<string> = new Set(['clickhouse', 'archiver']);

/** Whether what a process needs answers: the engines, and each service of its own. */
export class Readiness {
  private readonly probes = new Map<string, Probe>();
  /** A probe that hangs is not asked again before it ends: it may hold a connection. */
  private readonly underWay = new Map<string, Promise<boolean>>();
  private isAnnounced = false;

  constructor({ pool, clickhouse, kafka }: Pick<Installation, 'pool' | 'clickhouse' | 'kafka'>) {
    this.add('postgres', async () => (await pool.query('SELECT 1')).rowCount === 1);
    this.add('clickhouse', async () => (await clickhouse.ping()).success);
    this.add('kafka', () => kafka.withAdmin(async (admin) => (await admin.describeCluster()).brokers.length > 0));
  }

  add(part: string, probe: Probe): void {
    this.probes.set(part, probe);
  }

  /** Takes as long as the slowest part, at most PROBE_MS. A probe that throws counts as no. */
  async check(): Promise<{ ready: boolean; parts: Record<string, boolean> }> {
    const answers = await Promise.all(
      [...this.probes].map(async ([part, probe]): Promise<[string, boolean]> => [part, await this.ask(part, probe)]),
    );
    const ready = answers.every(([part, isReady]) => isReady || OPTIONAL.has(part));
    return { ready, parts: Object.fromEntries(answers) };
  }

  /** Whoever reads "ready" finds the addresses written down: until then the answer is no. */
  announced(): void {
    this.isAnnounced = true;
  }

  /** What /readyz says. */
  async answer(): Promise<{ ready: boolean; parts: Record<string, boolean> }> {
    const { ready, parts } = await this.check();
    return { ready: ready && this.isAnnounced, parts };
  }

  /** Waits for the optional parts too, as long as ClickHouse answers. Returns early when the signal aborts. */
  async untilReady(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { ready, parts } = await this.check();
      if (ready && (parts.clickhouse === false || Object.values(parts).every(Boolean))) return;
      await delay(50, signal);
    }
  }

  private async ask(part: string, probe: Probe): Promise<boolean> {
    let asking = this.underWay.get(part);
    if (asking === undefined) {
      asking = answerOf(probe).finally(() => this.underWay.delete(part));
      this.underWay.set(part, asking);
    }
    const silence = new AbortController();
    try {
      return await Promise.race([asking, delay(PROBE_MS, silence.signal).then(() => false)]);
    } finally {
      silence.abort();
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
