import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import {
  FORUM_COMMENTS,
  FORUM_POSTS,
  FORUM_REMOVALS,
  MONITOR_CANDIDATES,
  RECORDER_GROUP,
  REMOVALS_ARCHIVER_GROUP,
  REMOVALS_RECORDER_GROUP,
} from '../../schemas/messages/topics.ts';
import { attemptRow, insertItems, matchRow } from '../../shared/archive/archive-rows.ts';
import type { ArchiveRow } from '../../shared/archive/archive-rows.ts';
import { selectRows } from '../../shared/clickhouse/clickhouse-client.ts';
import { readAttemptsAfter } from '../../shared/deliveries/delivery-outcomes.ts';
import { parseRecords } from '../../shared/kafka/consumed-batch.ts';
import { connectedGroups, rewindGroup } from '../../shared/kafka/raise-partitions.ts';
import { readToEnd } from '../../shared/kafka/read-to-end.ts';
import { prepareRestored } from '../../shared/maintenance/restored-numbers.ts';
import { opensSealed, secretBoxOf } from '../../shared/maintenance/settings.ts';
import { readItems, readMatchesAfter, recordedMatchOf } from '../../shared/matches/recording.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { AdminError, examples, requireSecretKeys, time } from './command.ts';
import type { AddCommands, Installation } from './command.ts';

/** For clocks that differ, and for records that were read shortly before the backup and stored after it. */
const SLACK_MS = 3_600_000;
const PAGE = 2_000;
/** They are sent in the URL of the request. Some servers limit URLs to 16 KB; 500 × 25 bytes fit. */
const IDS_PER_QUERY = 500;

export const addCommands: AddCommands = (program, { lines }) => {
  program
    .command('restore')
    .command('finish')
    .description('prepare a Postgres that was restored from a backup for the services; stop all services first')
    .requiredOption('--taken-at <time>', 'when the backup was started, such as 2026-03-04T05:06:07Z', takenAt)
    .addHelpText('after', examples('restore finish --taken-at 2026-03-04T05:06:07Z'))
    .action(lines(finish));
  program
    .command('archive')
    .command('rebuild')
    .description('refill a lost ClickHouse from Kafka and Postgres; services can keep running')
    .addHelpText('after', examples('archive rebuild'))
    .action(lines(rebuild));
};

function takenAt(text: string): Date {
  const taken = time('--taken-at')(text);
  if (taken.getTime() <= systemClock()) return taken;
  throw new AdminError('--taken-at: must be in the past.');
}

/**
 * Before: nothing runs. Steps, each harmless when repeated:
 * 1. Raise all counters past what may have been given after the backup, and set the positions of listings back.
 * 2. Set back the groups that write Postgres, so that what they wrote after the backup is written again.
 * After: services may start.
 */
async function finish({ kafka, prefix, pool, config }: Installation, options: { takenAt: Date }): Promise<object[]> {
  const connected = await connectedGroups(kafka, prefix);
  if (connected.length > 0) {
    throw new AdminError(
      `Nothing was changed: processes are still connected to the groups ${connected.join(', ')}. Stop all services first.`,
    );
  }
  await checkKey(pool, config);
  const monitors = await prepareRestored(pool);
  const toMs = options.takenAt.getTime() - SLACK_MS;
  const rewind = (group: string, topic: string) => rewindGroup(kafka, { prefix, group, topic, toMs });
  const candidates = await rewind(RECORDER_GROUP, MONITOR_CANDIDATES.name);
  const removals = await rewind(REMOVALS_RECORDER_GROUP, FORUM_REMOVALS.name);
  // So that `archive rebuild` inserts nothing that is blanked in Postgres only later.
  const archived = await rewind(REMOVALS_ARCHIVER_GROUP, FORUM_REMOVALS.name);
  return [{ monitors, candidates_read_again: candidates, removals_read_again: Math.max(removals, archived) }];
}

/** @throws AdminError when the database's secrets are sealed with another key */
async function checkKey(pool: Pool, config: Config): Promise<void> {
  const keys = await requireSecretKeys(pool, config);
  if ((await opensSealed(pool, secretBoxOf(keys))) !== false) return;
  throw new AdminError(
    'Nothing was changed: SECRET_KEY cannot open the secrets of this database. Set the key that sealed them.',
  );
}

/** Each step is harmless to repeat, so an interrupted rebuild is run again. */
async function* rebuild(installation: Installation): AsyncIterable<object> {
  const { report } = installation;
  report('reading posts and comments from Kafka');
  yield { from: 'kafka', items: await rebuildItems(installation) };
  report('reading matches and what they matched from Postgres');
  yield { from: 'postgres', ...(await rebuildMatches(installation)) };
  report('reading delivery attempts from Postgres');
  yield { from: 'postgres', attempts: await rebuildAttempts(installation) };
}

/**
 * Archives what the topics hold of posts and comments. Items that were archived before are merged.
 *
 * @returns how many messages were read
 */
async function rebuildItems({ kafka, prefix, pool, clickhouse }: Installation): Promise<number> {
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
 * Archives all matches that Postgres holds, and the items that they matched where the archive does not have them.
 * What the forum removed is archived blank.
 *
 * @returns how many matches, and how many items came from Postgres
 */
async function rebuildMatches(deps: Installation): Promise<{ matches: number; things: number }> {
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
async function rebuildAttempts(deps: Installation): Promise<number> {
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

async function insert({ clickhouse }: Installation, table: string, values: ArchiveRow[]): Promise<void> {
  if (values.length > 0) await clickhouse.insert({ table, values, format: 'JSONEachRow' });
}

async function notArchived({ clickhouse }: Installation, ids: readonly string[]): Promise<string[]> {
  const archived = new Set<string>();
  for (let from = 0; from < ids.length; from += IDS_PER_QUERY) {
    const query = 'SELECT DISTINCT thing_id FROM items WHERE thing_id IN {ids: Array(String)}';
    const rows = await selectRows<{ thing_id: string }>(clickhouse, query, {
      ids: ids.slice(from, from + IDS_PER_QUERY),
    });
    for (const { thing_id } of rows) archived.add(thing_id);
  }
  return ids.filter((id) => !archived.has(id));
}
