/**
 * The matcher as a service with 100,000 active monitors of 20 keywords and 2 excluded terms in Postgres: the time to
 * load and to compare them, the stalls of its event loop meanwhile and while items flow and rules change, and the time
 * until a change takes effect. Runs on embedded engines, or on TEST_POSTGRES_URL and TEST_KAFKA_BROKERS.
 *
 * `--monitors N`, `--keywords N` (of a monitor; a tenth as many are excluded), `--seconds N`, `--items N` and
 * `--changes N` (the last two per second).
 */
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TOPICS } from '../../../schemas/messages/topics.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { seededRandom } from '../shared/matcher-random.ts';
import { openEngines } from './open-engines.ts';
import type { MatcherEngines } from './open-engines.ts';
import { MatcherProcess } from './service-process.ts';
import { commonWords, insertWatchingMonitors } from './service-monitors.ts';
import type { Terms } from './service-monitors.ts';
import { Traffic } from './traffic.ts';
import { percentiles } from '../shared/percentiles.ts';

const OPTIONS = {
  monitors: { type: 'string', default: '100000' },
  keywords: { type: 'string', default: '20' },
  seconds: { type: 'string', default: '20' },
  items: { type: 'string', default: '500' },
  changes: { type: 'string', default: '200' },
} as const;
const COMMON_WORDS = 20_000;
/** Compiles code and fills caches. Not measured. */
const WARM_UP_S = 3;

export default async function benchMatcherService(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const engines = await openEngines();
  try {
    await measure(report, engines, {
      monitors: Number(values.monitors),
      terms: { keywords: Number(values.keywords), excludes: Math.floor(Number(values.keywords) / 10) },
      seconds: Number(values.seconds),
      items: Number(values.items),
      changes: Number(values.changes),
    });
  } finally {
    await engines.stop();
  }
}

interface Size {
  monitors: number;
  terms: Terms;
  seconds: number;
  items: number;
  changes: number;
}

async function measure(report: Report, engines: MatcherEngines, size: Size): Promise<void> {
  const database = await createTestDatabase(engines.postgres);
  const kafka = await createKafkaFixture(engines.brokers);
  const child = new MatcherProcess();
  try {
    const random = seededRandom(7);
    const common = commonWords(COMMON_WORDS);
    const monitorIds = await insertWatchingMonitors(database.pool, size.monitors, size.terms, common, random);
    await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: true, topics: TOPICS });
    const { keywords } = size.terms;
    const traffic = new Traffic({ kafka, db: database.pool, monitorIds, keywords, common, random });
    child.start({ brokers: engines.brokers.split(','), prefix: kafka.prefix, postgresUrl: database.url });
    await measureLoad(report, child, size.terms);
    const stopReading = await traffic.readCandidates();
    try {
      await traffic.flow(WARM_UP_S, size.items, size.changes);
      await measureTraffic(report, child, traffic, size, 'matching, with changes');
      await database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'matcher-listener' AND datname = current_database()`,
      );
      await measureTraffic(
        report,
        child,
        traffic,
        { ...size, seconds: 5 },
        'matching, from the loss of the listening connection on',
      );
      report({ phase: 'comparison meanwhile', comparison_ms: (await child.next('compared')).ms });
    } finally {
      await stopReading();
    }
  } finally {
    await child.stop();
    await kafka.drop();
    await database.drop();
  }
}

async function measureLoad(report: Report, child: MatcherProcess, each: Terms): Promise<void> {
  const { ms, monitors } = await child.next('loaded');
  const load = await child.measured();
  const terms = monitors * (each.keywords + each.excludes);
  report({ phase: 'load', monitors, terms, load_ms: ms, goal_load_ms: 5_000, ...load });
  const comparison_ms = (await child.next('compared')).ms;
  report({ phase: 'comparison', comparison_ms, ...(await child.measured()) });
  await child.next('ready');
}

async function measureTraffic(
  report: Report,
  child: MatcherProcess,
  traffic: Traffic,
  { seconds, items, changes }: Size,
  phase: string,
): Promise<void> {
  await child.measured();
  traffic.effectsMs.length = 0;
  await traffic.flow(seconds, items, changes);
  const stalls = await child.measured();
  for (let tries = 0; tries < 200 && traffic.pending > 0; tries++) await wait(50);
  if (traffic.pending > 0) throw new Error(`${traffic.pending} changes had no effect`);
  const { p50, p99, max } = percentiles(traffic.effectsMs);
  report({
    phase,
    items_per_s: items,
    changes_per_s: changes,
    effects: traffic.effectsMs.length,
    change_to_candidate_ms: { p50, p99, max },
    ...stalls,
  });
}
