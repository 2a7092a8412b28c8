/**
 * `npm run --silent bench -- recorder [--seconds N] [--stored N]`: candidates per second through the recorder's work in
 * Postgres (contents and transaction, without Kafka), and the time of a small batch. Baseline in the same run: the bare
 * writes of the same rows. `--stored`: beside N matches of other monitors that are stored already. Runs on embedded
 * Postgres, or on TEST_POSTGRES_URL.
 */
import { parseArgs } from 'node:util';
import type { Candidate } from '../../../schemas/messages/monitor-match.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { fillTables, thingsFor } from '../shared/filled-matches.ts';
import { openPostgres } from '../shared/postgres-engine.ts';
import { writeBarely } from './recorder-probe.ts';

const MONITORS = 1_000;
/** Those that the stored matches belong to. */
const OTHERS = 2_000;
/** More than any run records, so that runs in one database have things of their own. */
const THINGS_PER_RUN = 100_000_000;
const BODY = 'Iron, water and air make rust; oil and paint keep it away. '.repeat(6);

interface Run {
  name: string;
  batchSize: number;
  monitorsPerThing: number;
  work: (pool: Pool, batch: Candidate[]) => Promise<unknown>;
}

const RECORD: Run['work'] = async (pool, batch) => {
  const { matches } = await recordBatch({ pool, toleranceMs: 0 }, batch);
  if (matches.length !== batch.length) throw new Error(`${batch.length} candidates became ${matches.length} matches`);
};

/** Like the service with batches of several partitions: each has its own monitors. */
const RECORD_FOUR_AT_ONCE: Run['work'] = async (pool, batch) => {
  const partitions = Map.groupBy(batch, (candidate) => candidate.monitor_id.charCodeAt(6) % 4);
  await Promise.all([...partitions.values()].map((partition) => RECORD(pool, partition)));
};

/** Matches of monitors that have reached the daily limit of stored matches. */
const RECORD_NOTHING: Run['work'] = async (pool, batch) => {
  const { matches } = await recordBatch({ pool, toleranceMs: 0, suppressedPerDay: 0 }, batch);
  if (matches.length > 0) throw new Error(`${matches.length} matches beyond the ceiling were stored`);
};

const RUNS: Run[] = [
  { name: 'bare writes', batchSize: 500, monitorsPerThing: 1, work: writeBarely },
  { name: 'recorder', batchSize: 500, monitorsPerThing: 1, work: RECORD },
  { name: 'recorder, 5 monitors a thing', batchSize: 500, monitorsPerThing: 5, work: RECORD },
  { name: 'recorder', batchSize: 2_000, monitorsPerThing: 1, work: RECORD },
  { name: 'recorder, in 4 partitions at once', batchSize: 2_000, monitorsPerThing: 1, work: RECORD_FOUR_AT_ONCE },
  { name: 'recorder, beyond the ceiling', batchSize: 2_000, monitorsPerThing: 1, work: RECORD_NOTHING },
  { name: 'bare writes', batchSize: 4, monitorsPerThing: 1, work: writeBarely },
  { name: 'recorder', batchSize: 4, monitorsPerThing: 1, work: RECORD },
];

export default async function bench(report: (line: object) => void, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { seconds: { type: 'string', default: '8' }, stored: { type: 'string', default: '0' } },
  });
  const engine = await openPostgres();
  try {
    const stored = Number(values.stored);
    const filled = stored > 0 ? await createFilledDatabase(engine.url, stored) : undefined;
    for (const [number, run] of RUNS.entries()) {
      const database = filled ?? (await createTestDatabase(engine.url));
      const firstThing = number * THINGS_PER_RUN;
      const measured = await measure(run, database, { firstThing, durationMs: Number(values.seconds) * 1_000 });
      report({ ...measured, ...(filled ? { stored } : {}) });
      if (!filled) await database.drop();
    }
    await filled?.drop();
  } finally {
    await engine.stop();
  }
}

/** A database with so many matches of monitors that get no others. */
async function createFilledDatabase(url: string, stored: number): Promise<TestDatabase> {
  const database = await createTestDatabase(url);
  const monitorIds = await insertMonitors(database.pool, OTHERS, { webhookUrl: 'https://example.com/', pack: 79 });
  const matches = Math.ceil(stored / OTHERS);
  const things = thingsFor(stored, matches);
  const groups = [{ monitorIds, matches }];
  await fillTables(database.url, { groups, things, oldestDays: 29, newestDays: 0, attempts: false });
  return database;
}

async function measure(
  run: Run,
  database: TestDatabase,
  { firstThing, durationMs }: { firstThing: number; durationMs: number },
): Promise<object> {
  const statements = countStatements(database.pool);
  const monitorIds = await insertMonitors(database.pool, MONITORS, { webhookUrl: 'https://example.com/', pack: 79 });
  if (run.work === RECORD_NOTHING) await fillDay(database.pool, monitorIds);
  const batches = generateBatches(run, monitorIds, firstThing);
  const perBatch: number[] = [];
  // First warms up plans and connections, which affect a process's first second but not its rate.
  for (let round = 0; round < 10; round += 1) await run.work(database.pool, batches());
  const times: number[] = [];
  const serverBefore = await serverWork(database.pool);
  let spent = 0;
  while (spent < durationMs) {
    const batch = batches();
    const before = statements();
    const start = performance.now();
    await run.work(database.pool, batch);
    times.push(performance.now() - start);
    spent += times.at(-1)!;
    perBatch.push(statements() - before);
  }
  const serverAfter = await serverWork(database.pool);
  const perCandidate = (of: keyof ServerWork) =>
    Number(((serverAfter[of] - serverBefore[of]) / (times.length * run.batchSize)).toFixed(2));
  times.sort((a, b) => a - b);
  const quantile = (q: number) => Number(times[Math.floor(q * (times.length - 1))]!.toFixed(2));
  return {
    what: run.name,
    batch: run.batchSize,
    monitors_per_thing: run.monitorsPerThing,
    candidates_per_s: Math.round((times.length * run.batchSize * 1_000) / spent),
    batch_ms: { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) },
    statements_per_batch: { min: Math.min(...perBatch), max: Math.max(...perBatch) },
    per_candidate: {
      wal_bytes: Math.round(perCandidate('walBytes')),
      full_page_images: perCandidate('fullPageImages'),
      blocks_read: perCandidate('blocksRead'),
    },
  };
}

interface ServerWork {
  walBytes: number;
  /** Pages that were written to the log whole, because each was the first change of its page since a checkpoint. */
  fullPageImages: number;
  /** Of 8 kB, from the operating system, which may have them in memory. */
  blocksRead: number;
}

async function serverWork(pool: Pool): Promise<ServerWork> {
  const { rows } = await pool.query<ServerWork>(`
    SELECT wal_bytes::float8 AS "walBytes", wal_fpi::float8 AS "fullPageImages", blks_read::float8 AS "blocksRead"
    FROM pg_stat_wal, pg_stat_database
    WHERE datname = current_database()`);
  return rows[0]!;
}

async function fillDay(pool: Pool, monitorIds: string[]): Promise<void> {
  await pool.query(
    `INSERT INTO monitor_days (monitor_id, day, matches)
     SELECT unnest($1::text[]), ((SELECT service_now()) AT TIME ZONE 'UTC')::date, 1000`,
    [monitorIds],
  );
}

function generateBatches(run: Run, monitorIds: string[], firstThing: number): () => Candidate[] {
  let made = 0;
  return () =>
    Array.from({ length: run.batchSize }, () => {
      const thing = firstThing + Math.floor(made / run.monitorsPerThing);
      // 7,919 is coprime to the number of monitors, so a batch's monitors are spread and each pair occurs once.
      const monitorId = monitorIds[(made * 7_919) % monitorIds.length]!;
      made += 1;
      return candidateOf({ monitorId, thingId: `t1_${thing.toString(36)}`, terms: ['rust', 'iron ore'], body: BODY });
    });
}

/** The statements sent so far over the pool's connections, including BEGIN and COMMIT. */
function countStatements(pool: Pool): () => number {
  let sent = 0;
  pool.on('acquire', (client) => {
    if (Object.hasOwn(client, 'query')) return;
    client.query = new Proxy(client.query.bind(client), {
      apply(target, self, parameters) {
        sent += 1;
        return Reflect.apply(target, self, parameters) as unknown;
      },
    });
  });
  return () => sent;
}
