/**
 * `npm run --silent bench -- backfill [--matches N] [--rate N] [--rounds N]`: matches per second that a backfill
 * records from the archive, and what it adds to the time from a live candidate's publication to its match on
 * monitor.matches, in one recorder process that does both. Live traffic runs with and without a backfill beside it by
 * turns, in the same run, on embedded engines.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TOPICS } from '../../../schemas/messages/topics.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import { ensureTopics } from '../../../shared/kafka/topics/topic-admin.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { RecorderChildOptions } from '../../support/children/recorder-child.ts';
import type { Report } from '../main.ts';
import { percentiles } from '../shared/percentiles.ts';
import { fillArchive, runBackfill } from './archive-matches.ts';
import { LiveMatches } from './live-matches.ts';

const RECORDER_CHILD = join(import.meta.dirname, '../../support/children/recorder-child.ts');
const LIVE_MONITORS = 200;

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      matches: { type: 'string', default: '40000' },
      rate: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '3' },
    },
  });
  const [matches, rate, rounds] = [Number(values.matches), Number(values.rate), Number(values.rounds)];
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-backfill-'));
  const engines = await startEngines({ dataDir, env: process.env });
  try {
    await measure(report, engines.urls, { matches, rate, rounds });
  } finally {
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure(
  report: Report,
  urls: Record<'kafka' | 'postgres' | 'clickhouse', string>,
  { matches, rate, rounds }: { matches: number; rate: number; rounds: number },
): Promise<void> {
  const brokers = urls.kafka.replace('kafka://', '');
  const db = await createTestDatabase(urls.postgres);
  const kafka = await createKafkaFixture(brokers);
  await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: true, topics: TOPICS });
  const clickhouse = createClickhouse(urls.clickhouse, 'bench');
  await migrateClickhouse(clickhouse, db.pool, silentLogger());
  const words = Array.from({ length: rounds + 1 }, (_, round) => `word${round}`);
  for (const word of words) await fillArchive(clickhouse, word, matches);
  const options: RecorderChildOptions = {
    brokers,
    prefix: kafka.prefix,
    postgresUrl: db.url,
    backfills: { clickhouseUrl: urls.clickhouse, leaseSeconds: 30 },
  };
  const child = spawn(process.execPath, [RECORDER_CHILD, JSON.stringify(options)], { stdio: 'inherit' });
  const live = await LiveMatches.start(kafka, await insertMonitors(db.pool, LIVE_MONITORS, { pack: 79 }));
  try {
    // The first seconds compile code and fill caches, so they are not measured.
    await live.send(rate, () => wait(5_000));
    const alone = await runBackfill(db.pool, words[0]!, matches);
    report({
      run: 'backfill alone',
      matches,
      seconds: alone.seconds,
      matches_per_second: alone.perSecond,
      goal: 5_000,
    });
    const latencies = { without: [] as number[], beside: [] as number[] };
    const rates: number[] = [];
    for (const word of words.slice(1)) {
      const beside = await live.send(rate, async () => {
        rates.push((await runBackfill(db.pool, word, matches)).perSecond);
      });
      latencies.beside.push(...beside.latencies);
      latencies.without.push(...(await live.send(rate, () => wait(beside.ms))).latencies);
    }
    report({ run: 'live, without a backfill', per_second: rate, ...percentiles(latencies.without) });
    report({ run: 'live, beside a backfill', per_second: rate, goal: '1.1 times', ...percentiles(latencies.beside) });
    report({ run: 'backfill beside live matches', matches_per_second: rates });
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    await live.stop();
    await clickhouse.close();
    await kafka.drop();
    await db.drop();
  }
}
