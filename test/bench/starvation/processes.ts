import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { openAccount } from '../../../shared/stores/accounts/open-account.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { ServiceProcess } from '../../support/children/service-process.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** Crawler and API as two processes over one database, one broker and one simulated forum. */
export class StarvationProcesses {
  readonly topicPrefix = `bench-${randomBytes(4).toString('hex')}.`;
  apiUrl = '';
  private readonly options: {
    engines: RunningEngines;
    db: TestDatabase;
    dataDir: string;
    simulator: string;
    point: { clients: number; shares: Record<string, string> };
  };
  private readonly services: ServiceProcess[] = [];
  private readonly metricsUrls: string[] = [];

  constructor(options: StarvationProcesses['options']) {
    this.options = options;
  }

  /** Starts both, waits until they are ready, and returns an API key. */
  async start(): Promise<string> {
    const account = { email: 'bench@example.com', credits: 1_000_000, pack: 79, keyName: 'bench' } as const;
    const opened = await inTransaction(this.options.db.pool, (client) => openAccount(client, account));
    if (!opened) throw new Error('the account was there already');
    for (const service of ['crawler', 'api']) await this.startService(service);
    await eventually('the API is ready', async () => (await fetch(`${this.apiUrl}/readyz`)).status === 200, 90_000);
    await eventually('the crawler calls', async () => ((await this.callsByLane()).live ?? 0) > 0, 90_000);
    return opened.apiKey;
  }

  /** Calls to the forum taken so far, by lane. */
  async callsByLane(): Promise<Record<string, number>> {
    const calls: Record<string, number> = {};
    for (const url of this.metricsUrls) {
      const text = await (await fetch(url)).text();
      for (const [, lane, outcome, count] of text.matchAll(
        /^upstream_lane_calls_total\{lane="(.+?)",outcome="(.+?)"\} (\d+)/gm,
      )) {
        const name = outcome === 'taken' ? lane! : `${lane} ${outcome}`;
        calls[name] = (calls[name] ?? 0) + Number(count);
      }
    }
    return calls;
  }

  /** How often a service ended by itself. */
  get ends(): number {
    return this.services.reduce((sum, service) => sum + service.ownEnds, 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.services.map((service) => service.stop()));
  }

  private async startService(service: string): Promise<void> {
    const { engines, db, dataDir, simulator, point } = this.options;
    const [port, metricsPort] = [await freePort(), await freePort()];
    const folder = join(dataDir, `${this.topicPrefix}${service}`);
    mkdirSync(folder);
    if (service === 'api') this.apiUrl = `http://127.0.0.1:${port}`;
    this.metricsUrls.push(`http://127.0.0.1:${metricsPort}/metrics`);
    const running = new ServiceProcess(service, {
      PATH: process.env.PATH,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      DATA_DIR: folder,
      LOG_LEVEL: 'warn',
      KAFKA_BROKERS: engines.urls.kafka,
      KAFKA_TOPIC_PREFIX: this.topicPrefix,
      FORUM_EMBEDDED: 'kafka,postgres,clickhouse',
      DATABASE_URL: db.url,
      CLICKHOUSE_URL: engines.urls.clickhouse,
      UPSTREAM_URL: simulator,
      UPSTREAM_TOKEN_URL: `${simulator}/api/v1/access_token`,
      UPSTREAM_CLIENTS: Array.from({ length: point.clients }, (_, n) => `client${n}:secret`).join(','),
      ...point.shares,
    });
    this.services.push(running);
    running.start();
  }
}
