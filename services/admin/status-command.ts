import { DEAD_LETTER_SUFFIX, groupsOfTopic, TOPICS } from '../../schemas/messages/topics.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { newestArchivedAt } from '../../shared/crawl/archived-hours.ts';
import { countOpenGaps } from '../../shared/crawl/crawl-coverage.ts';
import { countDueDeliveries } from '../../shared/deliveries/pending-deliveries.ts';
import type { DueDeliveries } from '../../shared/deliveries/pending-deliveries.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import { connectedGroups } from '../../shared/kafka/raise-partitions.ts';
import { replayGroup } from '../../shared/kafka/replay-dead-letters.ts';
import { lagOf, readGroupPositions } from '../../shared/kafka/topic-admin.ts';
import { countInstallation, countWaitingWork } from '../../shared/maintenance/installation-counts.ts';
import type { InstallationCounts, WaitingWork } from '../../shared/maintenance/installation-counts.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import { withDeadline } from '../../shared/runtime/lifecycle.ts';
import { examples } from './command.ts';
import type { AddCommands, Installation } from './command.ts';

export interface PostgresState {
  due: DueDeliveries;
  counts: InstallationCounts;
  work: WaitingWork;
  /** Gaps that are open, by the source that may have missed something. */
  gaps: { source: string; open: number }[];
}

export interface KafkaState {
  brokers: number;
  /** Records before each consumer group, in the order of the flow. */
  lags: { group: string; lag: number }[];
  connected: ReadonlySet<string>;
  /** Letters that were not replayed, by their source topic; only those that have any. */
  deadLetters: Record<string, number>;
}

export interface ClickhouseState {
  /** Milliseconds since the newest archived item was first seen; null: none in the last day. */
  newestItemAgeMs: number | null;
}

/** What was found, or why it was not: the message of the error. */
export type Found<State> = { state: State } | { error: string };

export interface Measured {
  postgres: Found<PostgresState>;
  kafka: Found<KafkaState>;
  clickhouse: Found<ClickhouseState>;
}

/** A line of the page. Every line has all fields, so that the lines of one part can be compared over time. */
export interface StatusRow {
  part: string;
  /**
   * `look`: somebody should; `away`: the server does not answer as it should, and the note says why;
   * `unknown`: its server is unavailable.
   */
  status: 'ok' | 'look' | 'away' | 'unknown';
  /** How many of what the note names. */
  waiting: number | null;
  /** How old the oldest of them is; of items, how old the newest is. */
  age_seconds: number | null;
  note: string;
}

/** Longer than the retries of a client whose server is unavailable. */
const MEASURE_MS = 15_000;
const CLICKHOUSE_MS = 5_000;

export const addCommands: AddCommands = (program, { table }) => {
  program
    .command('status')
    .description('print an overview: servers, lags, due work, gaps, dead letters; works when a server is unavailable')
    .addHelpText('after', examples('status', 'status --json'))
    .action(table(pageOf));
};

async function pageOf({ pool, kafka, clickhouse, prefix, matcherShards }: Installation): Promise<StatusRow[]> {
  const [inPostgres, inKafka, inClickhouse] = await Promise.all([
    found(measurePostgres(pool)),
    found(measureKafka(kafka, prefix, matcherShards)),
    found(measureClickhouse(clickhouse)),
  ]);
  return statusRows({ postgres: inPostgres, kafka: inKafka, clickhouse: inClickhouse });
}

async function found<State>(measuring: Promise<State>): Promise<Found<State>> {
  try {
    return { state: await withDeadline(measuring, MEASURE_MS, 'no answer in time') };
  } catch (error) {
    return { error: errorMessage(error) || 'no connection' };
  }
}

async function measurePostgres(pool: Pool): Promise<PostgresState> {
  return {
    due: await countDueDeliveries(pool),
    counts: await countInstallation(pool),
    work: await countWaitingWork(pool),
    gaps: await countOpenGaps(pool),
  };
}

async function measureKafka(kafka: KafkaConnection, prefix: string, shards: number): Promise<KafkaState> {
  const connected = new Set(await connectedGroups(kafka, prefix));
  return kafka.withAdmin(async (admin) => {
    const { brokers } = await admin.describeCluster();
    const existing = new Set(await admin.listTopics());
    const groupLag = async (group: string, topics: string[]): Promise<number> => {
      const found = topics.filter((topic) => existing.has(prefix + topic));
      if (found.length === 0) return 0;
      return lagOf(await readGroupPositions(admin, { prefix, group, topics: found }));
    };
    const readings = TOPICS.flatMap(({ name }) => groupsOfTopic(name, shards).map((group) => ({ group, name })));
    const lags: KafkaState['lags'] = [];
    for (const [group, read] of Map.groupBy(readings, (reading) => reading.group)) {
      const topics = read.map(({ name }) => name);
      lags.push({ group, lag: await groupLag(group, topics) });
    }
    const deadLetters: Record<string, number> = {};
    for (const { name } of TOPICS) {
      const letters = await groupLag(replayGroup(name), [name + DEAD_LETTER_SUFFIX]);
      if (letters > 0) deadLetters[name] = letters;
    }
    return { brokers: brokers.length, lags, connected, deadLetters };
  });
}

async function measureClickhouse(clickhouse: ClickHouseClient): Promise<ClickhouseState> {
  const newest = await newestArchivedAt(clickhouse, AbortSignal.timeout(CLICKHOUSE_MS));
  return { newestItemAgeMs: newest === undefined ? null : systemClock() - newest };
}

/** A forum is never quiet for this long, and nothing waits for this long while all is well. */
const LATE_SECONDS = 60;
/** A minute of items of a large forum. */
const LAGGING = 10_000;

/** The page in the order in which somebody looks: servers, the flow of items, what is sent, what was set aside. */
export function statusRows({ postgres, kafka, clickhouse }: Measured): StatusRow[] {
  return [
    engine('postgres', postgres, () => ''),
    engine('kafka', kafka, ({ brokers }) => `brokers: ${brokers}`),
    engine('clickhouse', clickhouse, () => ''),
    ...('state' in clickhouse ? [items(clickhouse.state)] : [unknown('items', 'ClickHouse')]),
    ...('state' in kafka ? flow(kafka.state) : [unknown('flow', 'Kafka'), unknown('dead letters', 'Kafka')]),
    ...('state' in postgres ? work(postgres.state) : [unknown('deliveries', 'Postgres'), unknown('gaps', 'Postgres')]),
  ];
}

function engine<State>(part: string, found: Found<State>, note: (state: State) => string): StatusRow {
  const answers = 'state' in found;
  return row(part, answers ? 'ok' : 'away', { note: answers ? note(found.state) : found.error });
}

function items({ newestItemAgeMs }: ClickhouseState): StatusRow {
  if (newestItemAgeMs === null) return row('items', 'look', { note: 'none was archived in the last day' });
  const seconds = toSeconds(newestItemAgeMs);
  return row('items', seconds > LATE_SECONDS ? 'look' : 'ok', { seconds, note: 'the newest archived item' });
}

function flow({ lags, connected, deadLetters }: KafkaState): StatusRow[] {
  const letters = Object.values(deadLetters).reduce((sum, count) => sum + count, 0);
  return [
    ...lags.map(({ group, lag }) => {
      const isRead = connected.has(group);
      const note = isRead ? 'records before it' : 'records before it; no process reads them';
      return row(group, isRead && lag <= LAGGING ? 'ok' : 'look', { waiting: lag, note });
    }),
    row('dead letters', letters > 0 ? 'look' : 'ok', { waiting: letters, note: counted(Object.entries(deadLetters)) }),
  ];
}

function work({ due, counts, work: waiting, gaps }: PostgresState): StatusRow[] {
  const { backfills, digests, digestMails, events } = waiting;
  const overdue = toSeconds(due.oldestMs ?? 0);
  const open = gaps.reduce((sum, gap) => sum + gap.open, 0);
  const late = (seconds: number) => (seconds > LATE_SECONDS ? 'look' : 'ok');
  return [
    row('deliveries', due.underWay > 0 ? 'ok' : late(overdue), {
      waiting: due.due,
      seconds: due.oldestMs === null ? null : overdue,
      note: `due; under way: ${due.underWay}, waiting for their time, too: ${counts.pendingDeliveries}`,
    }),
    row('webhooks', 'ok', { waiting: counts.failingMonitors, note: 'monitors whose webhook fails' }),
    row('events', 'ok', { waiting: events.pending, seconds: Math.round(events.oldestSeconds), note: 'not delivered' }),
    row('digests', late(digests.oldestSeconds), {
      waiting: digests.due,
      seconds: Math.round(digests.oldestSeconds),
      note: `due; mails not sent: ${digestMails}`,
    }),
    row('backfills', 'ok', {
      waiting: backfills.waiting + backfills.working + backfills.cancelling,
      seconds: Math.round(backfills.oldestSeconds),
      note: `under way: ${backfills.working}`,
    }),
    row('gaps', open > 0 ? 'look' : 'ok', {
      waiting: open,
      note: counted(gaps.map(({ source, open: count }) => [source, count])),
    }),
    row('monitors', 'ok', { note: counted(Object.entries(counts.monitors)) }),
  ];
}

function unknown(part: string, server: string): StatusRow {
  return row(part, 'unknown', { note: `${server} does not answer` });
}

function row(
  part: string,
  status: StatusRow['status'],
  { waiting = null, seconds = null, note }: { waiting?: number | null; seconds?: number | null; note: string },
): StatusRow {
  return { part, status, waiting, age_seconds: seconds, note };
}

function counted(counts: readonly (readonly [string, number])[]): string {
  return counts
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
}

function toSeconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1_000));
}
