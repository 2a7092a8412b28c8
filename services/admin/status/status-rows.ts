import type { ClickhouseState, KafkaState, PostgresState } from './measure-status.ts';

/** What was found, or why it was not: the message of the error. */
export type Found<State> = { state: State } | { away: string };

export interface Measured {
  postgres: Found<PostgresState>;
  kafka: Found<KafkaState>;
  clickhouse: Found<ClickhouseState>;
}

/** A line of the page. Every line has all fields, so that the lines of one part can be compared over time. */
export interface StatusRow {
  part: string;
  /**
   * `look`: somebody should; `away`: the server does not answer as it should, and the note says why; `unknown`: its
   * server is away.
   */
  status: 'ok' | 'look' | 'away' | 'unknown';
  /** How many of what the note names. */
  waiting: number | null;
  /** How old the oldest of them is; of items, how old the newest is. */
  age_seconds: number | null;
  note: string;
}

/** A forum is never quiet for so long, and nothing waits for so long while all is well. */
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
  return row(part, answers ? 'ok' : 'away', { note: answers ? note(found.state) : found.away });
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

/** `a: 1, b: 2` */
function counted(counts: readonly (readonly [string, number])[]): string {
  return counts
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
}

function toSeconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1_000));
}
