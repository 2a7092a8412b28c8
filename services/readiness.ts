import { delay } from '../shared/runtime/clock.ts';
import type { Installation } from './connect-engines.ts';

type Probe = () => boolean | Promise<boolean>;

/** Whether everything that a process needs answers: the three engines, and each service of its own. */
export class Readiness {
  private readonly probes = new Map<string, Probe>();

  constructor({ pool, clickhouse, kafka }: Installation) {
    this.add('postgres', async () => (await pool.query('SELECT 1')).rowCount === 1);
    this.add('clickhouse', async () => (await clickhouse.ping()).success);
    this.add('kafka', () => kafka.withAdmin(async (admin) => (await admin.describeCluster()).brokers.length > 0));
  }

  add(part: string, probe: Probe): void {
    this.probes.set(part, probe);
  }

  /** A probe that throws counts as no. */
  async check(): Promise<{ ready: boolean; parts: Record<string, boolean> }> {
    const answers = await Promise.all(
      [...this.probes].map(async ([part, probe]): Promise<[string, boolean]> => {
        try {
          return [part, await probe()];
        } catch {
          return [part, false];
        }
      }),
    );
    return { ready: answers.every(([, ready]) => ready), parts: Object.fromEntries(answers) };
  }

  /** Returns early when the signal aborts. */
  async untilReady(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.check()).ready) await delay(50, signal);
  }
}
