import { FORUM_COMMENTS, FORUM_POSTS } from '../../../schemas/messages/topics.ts';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { KafkaConnection } from '../../../shared/kafka/kafka-connection.ts';
import { parseRecords } from '../../../shared/kafka/poison-message.ts';
import { readToEnd } from '../../../shared/kafka/topics/read-to-end.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { insertItems, attemptRow, matchRow } from '../../../shared/stores/archive/archive-rows.ts';
import type { ArchiveRow } from '../../../shared/stores/archive/archive-rows.ts';
import { readAttemptsAfter } from '../../../shared/stores/deliveries/delivery-publications.ts';
import { recordedMatchOf } from '../../../shared/stores/matches/recorded-match-of.ts';
import { readItems } from '../../../shared/stores/matches/recording-items.ts';
import { readMatchesAfter } from '../../../shared/stores/matches/recording-matches.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import type { EnginesCommand, Report } from '../command.ts';
import { findBrokers, findClickhouse, findPostgres } from '../find-engines.ts';

export interface RebuildDeps {
  kafka: KafkaConnection;
  /** Of topics. */
  prefix: string;
  pool: Pool;
  clickhouse: ClickHouseClient;
}

const PAGE = 2_000;
/** They are sent in the URL of the request. Some servers limit URLs to 16 KB; 500 × 25 bytes fit. */
const IDS_PER_QUERY = 500;

/**
 * Archives what the topics hold of posts and comments. Items that were archived before are merged.
 *
 * @returns how many messages were read
 */
export async function rebuildItems({ kafka, prefix, pool, clickhouse }: RebuildDeps): Promise<number> {
  let items = 0;
  await readToEnd({
    ...{ kafka, prefix, topics: [FORUM_POSTS.name, FORUM_COMMENTS.name] },
    handle: async (batch) => {
      // What the archiver cannot read is a dead letter already.
      const { parsed } = parseRecords(FORUM_POSTS.schema, batch);
      await insertItems(
        pool,
        clickhouse,
        parsed.map(({ value }) => value),
      );
      items += parsed.length;
    },
  });
  return items;
}

/**
 * Archives all matches that Postgres holds, and the content of their things where the archive does not have it. What
 * the forum removed is archived blank.
 *
 * @returns how many matches, and how many things came from Postgres
 */
export async function rebuildMatches(deps: RebuildDeps): Promise<{ matches: number; things: number }> {
  const done = { matches: 0, things: 0 };
  let last = { monitorId: '', seq: 0 };
  for (;;) {
    const matches = await readMatchesAfter(deps.pool, last, PAGE);
    if (matches.length === 0) return done;
    const stored = await readItems(deps.pool, [...new Set(matches.map(({ thingId }) => thingId))]);
    const contents = new Map(stored.map(({ item }) => [item.thing_id, item]));
    const known = matches.filter(({ thingId }) => contents.has(thingId));
    await insert(
      deps,
      'matches',
      known.map((match) => matchRow(recordedMatchOf(match, contents))),
    );
    const missing = await notArchived(deps, [...contents.keys()]);
    const firstSeen = new Map(known.toReversed().map(({ thingId, firstSeenAt }) => [thingId, firstSeenAt]));
    const items = missing.map((id): ForumItem => ({
      ...contents.get(id)!,
      ...{ v: 1, source: 'restored', replay: false, score: 0, num_comments: null, url: null },
      first_seen_at: firstSeen.get(id)!,
    }));
    if (items.length > 0) await insertItems(deps.pool, deps.clickhouse, items);
    done.matches += known.length;
    done.things += items.length;
    last = matches.at(-1)!;
  }
}

/** Archives all delivery attempts that Postgres holds. @returns how many */
export async function rebuildAttempts(deps: RebuildDeps): Promise<number> {
  let count = 0;
  let last = { monitorId: '', seq: 0, attempt: 0 };
  for (;;) {
    const attempts = await readAttemptsAfter(deps.pool, last, PAGE);
    if (attempts.length === 0) return count;
    await insert(deps, 'delivery_attempts', attempts.map(attemptRow));
    count += attempts.length;
    const { monitor_id: monitorId, seq, attempt } = attempts.at(-1)!;
    last = { monitorId, seq, attempt };
  }
}

async function insert({ clickhouse }: RebuildDeps, table: string, values: ArchiveRow[]): Promise<void> {
  if (values.length > 0) await clickhouse.insert({ table, values, format: 'JSONEachRow' });
}

async function notArchived({ clickhouse }: RebuildDeps, ids: readonly string[]): Promise<string[]> {
  const archived = new Set<string>();
  for (let from = 0; from < ids.length; from += IDS_PER_QUERY) {
    const answer = await clickhouse.query({
      query: 'SELECT DISTINCT thing_id FROM items WHERE thing_id IN {ids: Array(String)}',
      query_params: { ids: ids.slice(from, from + IDS_PER_QUERY) },
      format: 'JSONEachRow',
    });
    for (const { thing_id } of await answer.json<{ thing_id: string }>()) archived.add(thing_id);
  }
  return ids.filter((id) => !archived.has(id));
}

const ARCHIVE_REBUILD: EnginesCommand = {
  name: 'archive rebuild',
  summary: 'fill ClickHouse again, after its loss, with what Kafka and Postgres hold; services may run',
  optionsHelp: [],
  examples: ['archive rebuild'],
  options: {},
  prepare: () => (config, report) => Promise.resolve(rebuild(config, report)),
};

/** Each step is harmless to repeat, so an interrupted rebuild is run again. */
async function* rebuild(config: Config, report: Report): AsyncIterable<object> {
  const logger = createLogger('silent');
  const { security, topicPrefix: prefix } = config.kafka;
  const kafka = createKafka({ brokers: findBrokers(config), security, clientId: 'admin', logger });
  const clickhouse = createClickhouse(findClickhouse(config), 'forum-monitor admin', config.clickhouse);
  const pool = createPool({ url: findPostgres(config), name: 'admin', logger, max: 1 });
  const deps = { kafka, prefix, pool, clickhouse };
  try {
    report('reading posts and comments from Kafka');
    yield { from: 'kafka', items: await rebuildItems(deps) };
    report('reading matches and what they matched from Postgres');
    yield { from: 'postgres', ...(await rebuildMatches(deps)) };
    report('reading delivery attempts from Postgres');
    yield { from: 'postgres', attempts: await rebuildAttempts(deps) };
  } finally {
    await clickhouse.close();
    await pool.end();
  }
}

export const COMMANDS = [ARCHIVE_REBUILD];
