import { afterAll, beforeAll, expect, test } from 'vitest';
import { FORUM_COMMENTS, MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { advanceErasures } from '../../../services/biller/erase-accounts.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { closeAccount } from '../../../shared/accounts/close-account.ts';
import { findArchivedComment, findNewestComments } from '../../../shared/matches/archived-comments.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import type { PayingAccount } from '../../support/fixtures/biller-monitors.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { attemptOf, DAY, iso, MINUTE, SUCCESS } from '../../support/samples/analyst-rows.ts';
import { commentItem } from '../../support/samples/forum-items.ts';

const TABLES = ['items', 'matches', 'delivery_attempts'];
let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await Pipeline.create();
  await pipeline.start('archiver');
});
afterAll(() => pipeline.drop());

async function ids(query: string): Promise<unknown[]> {
  const result = await pipeline.clickhouse.query({ query, format: 'JSONEachRow' });
  return (await result.json<{ id: unknown }>()).map(({ id }) => id);
}

const stored = () => Promise.all(TABLES.map((table) => ids(`SELECT count() AS id FROM ${table} FINAL`)));

async function publish(topic: string, key: string, value: object): Promise<void> {
  await pipeline.kafka.publisher.publish(topic, [{ key, value: JSON.stringify(value) }]);
}

/** Stores a thing with its match and an attempt, all received at the given time. */
async function publishAll(number: number, at: number): Promise<void> {
  const time = iso(at);
  const item = { ...commentItem(number, 'rust never sleeps'), created_utc: time, first_seen_at: time };
  const { v: _v, source: _s, replay: _r, first_seen_at, score: _p, num_comments: _n, url: _u, ...content } = item;
  const match = { monitor_id: `mon_${'0'.repeat(11)}${number}`, seq: 1, match_id: `match ${number}` };
  const more = { matched_terms: ['rust'], suppressed: false, first_delivery: 'pending', first_seen_at };
  const recorded = { v: 1, ...match, ...more, entered_at: time, created_at: time, item: content };
  const made = attemptOf(match, { host: `h${number}`, attempt: 1, startedAt: at, durationMs: 5, ...SUCCESS });
  await publish(FORUM_COMMENTS.name, item.thing_id, item);
  await publish(MONITOR_MATCHES.name, match.monitor_id, recorded);
  await publish(MONITOR_DELIVERIES.name, match.monitor_id, made);
}

test('rows received over 30 days ago are hidden at once, even before a merge, and deleted with their part', async () => {
  for (const table of TABLES) await pipeline.clickhouse.command({ query: `SYSTEM STOP MERGES ${table}` });
  const border = Date.now() - 30 * DAY;
  await publishAll(1, border - 1_000);
  await publishAll(2, border + 10 * MINUTE);
  await publishAll(3, Date.now() - MINUTE);
  await eventually('all is archived', async () => (await stored()).join() === '3,3,3');

  expect(await ids('SELECT thing_id AS id FROM matches_with_items ORDER BY id')).toEqual(['t1_2', 't1_3']);
  expect(await ids('SELECT body AS id FROM matches_with_items')).toEqual(Array(2).fill('rust never sleeps'));
  expect(await ids('SELECT sum(matches) AS id FROM matches_per_day_and_term')).toEqual([2]);
  expect(await ids('SELECT host AS id FROM delivery_latency ORDER BY id')).toEqual(['h2', 'h3']);
  const all = { subreddit: undefined, since: undefined, after: undefined };
  const search = { ...all, words: ['rust'], now: Date.now(), limit: 10 };
  const found = await findNewestComments(pipeline.clickhouse, search);
  expect(found.map(({ thingId: id }) => id)).toEqual(['t1_3', 't1_2']);
  expect(await findArchivedComment(pipeline.clickhouse, 't1_1')).toBeUndefined();
  expect(await findArchivedComment(pipeline.clickhouse, 't1_2')).toMatchObject({ thingId: 't1_2' });

  for (const table of TABLES) {
    await pipeline.clickhouse.command({ query: `SYSTEM START MERGES ${table}` });
    await pipeline.clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
  }
  expect(await stored()).toEqual([[2], [2], [2]]);
  expect(await ids('SELECT thing_id AS id FROM items ORDER BY id')).toEqual(['t1_2', 't1_3']);
});

let things = 0;

/** Records a match of each monitor and publishes it with one attempt, as recorder and deliverer do. */
async function match(...monitorIds: string[]): Promise<void> {
  const thingId = `t1_${(things++).toString(36)}`;
  const candidates = monitorIds.map((monitorId) => candidateOf({ monitorId, thingId }));
  const { matches } = await recordBatch({ pool: pipeline.db.pool, toleranceMs: 0 }, candidates);
  const records = matches.map((recorded) => ({ key: recorded.monitor_id, value: JSON.stringify(recorded) }));
  await pipeline.kafka.publisher.publish(MONITOR_MATCHES.name, records);
  const attempts = matches.map((recorded) => {
    const startedAt = Date.parse(recorded.created_at);
    const value = attemptOf(recorded, { host: 'hooks.example.com', attempt: 1, startedAt, durationMs: 12, ...SUCCESS });
    return { key: recorded.monitor_id, value: JSON.stringify(value) };
  });
  await pipeline.kafka.publisher.publish(MONITOR_DELIVERIES.name, attempts);
}

/** The numbers of matches and attempts of an account in ClickHouse. */
async function archived({ monitorIds }: PayingAccount): Promise<[number, number]> {
  const count = async (table: string) => {
    const result = await pipeline.clickhouse.query({
      query: `SELECT count() AS n FROM ${table} FINAL WHERE monitor_id IN {monitorIds: Array(String)}`,
      query_params: { monitorIds },
      format: 'JSONEachRow',
    });
    return (await result.json<{ n: number }>())[0]!.n;
  };
  return [await count('matches'), await count('delivery_attempts')];
}

function advance(): Promise<void> {
  const { kafka, prefix } = pipeline.kafka;
  return advanceErasures({
    pool: pipeline.db.pool,
    kafka,
    prefix,
    clickhouse: pipeline.clickhouse,
    logger: silentLogger(),
    mayContinue: () => Promise.resolve(true),
  });
}

async function erasure(): Promise<{ here: boolean; heads: boolean; finished: boolean }> {
  const { rows } = await pipeline.db.pool.query<{ here: boolean; heads: boolean; finished: boolean }>(
    `SELECT bool_and(erased_here_at IS NOT NULL) AS here, bool_and(archive_offsets IS NOT NULL) AS heads,
       bool_and(finished_at IS NOT NULL) AS finished
     FROM account_erasures`,
  );
  return rows[0]!;
}

async function expectArchived(account: PayingAccount, matches: number, attempts = matches): Promise<void> {
  await eventually('the archive', async () => {
    const found = await archived(account);
    if (found[0] !== matches || found[1] !== attempts) throw new Error(`found ${found.join(', ')}`);
    return true;
  });
}

function close(account: PayingAccount): Promise<boolean> {
  return closeAccount(pipeline.db.pool, account.accountId, { mailboxHash: Buffer.from(account.accountId) });
}

test('erases matches that were published but not yet archived when their account was deleted, and no others', async () => {
  const { pool } = pipeline.db;
  const [mine, other] = await insertPayingAccounts(pool, { accounts: 2, monitors: 2, credits: 100 });
  const [empty] = await insertPayingAccounts(pool, { accounts: 1, monitors: 0, credits: 0 });
  await match(...mine!.monitorIds, ...other!.monitorIds);
  await Promise.all([expectArchived(mine!, 2), expectArchived(other!, 2)]);
  await pipeline.stopLast();
  await match(...mine!.monitorIds, ...other!.monitorIds);
  await Promise.all([close(mine!), close(empty!)]);

  await advance();
  expect(await erasure()).toEqual({ here: true, heads: false, finished: false });
  await advance();
  expect(await erasure(), 'what is being published now has a minute').toEqual({
    here: true,
    heads: false,
    finished: false,
  });
  expect(await archived(mine!)).toEqual([2, 2]);

  await pipeline.db.setShift('61 seconds');
  await advance();
  expect(await erasure()).toEqual({ here: true, heads: true, finished: false });
  expect(await archived(mine!), 'what was archived goes at once').toEqual([0, 0]);
  await advance();
  expect((await erasure()).finished, 'while no archiver runs').toBe(false);

  await pipeline.start('archiver');
  await Promise.all([expectArchived(mine!, 2), expectArchived(other!, 4)]);
  await eventually('it is finished', async () => {
    await advance();
    return (await erasure()).finished;
  });
  expect([await archived(mine!), await archived(other!)]).toEqual([
    [0, 0],
    [4, 4],
  ]);
  const { rows } = await pool.query('SELECT FROM matched_items');
  expect(rows).toHaveLength(2);
});
