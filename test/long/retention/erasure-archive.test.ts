import { afterEach, beforeEach, expect, test } from 'vitest';
import { MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { advanceErasures } from '../../../services/biller/erase-accounts.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { closeAccount } from '../../../shared/stores/accounts/close-account.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import type { PayingAccount } from '../../support/fixtures/biller-monitors.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let pipeline: Pipeline;
let mine: PayingAccount;
let other: PayingAccount;
beforeEach(async () => {
  pipeline = await Pipeline.create();
  [mine, other] = (await insertPayingAccounts(pipeline.db.pool, { accounts: 2, monitors: 2, credits: 100 })) as [
    PayingAccount,
    PayingAccount,
  ];
});
afterEach(() => pipeline.drop());

let things = 0;

/** Records a match of each monitor and publishes it with one attempt, as recorder and deliverer do. */
async function match(...monitorIds: string[]): Promise<void> {
  const thingId = `t1_${(things++).toString(36)}`;
  const candidates = monitorIds.map((monitorId) => candidateOf({ monitorId, thingId }));
  const { matches } = await recordBatch({ pool: pipeline.db.pool, toleranceMs: 0 }, candidates);
  const records = matches.map((recorded) => ({ key: recorded.monitor_id, value: JSON.stringify(recorded) }));
  await pipeline.kafka.publisher.publish(MONITOR_MATCHES.name, records);
  const attempts = matches.map(({ monitor_id, seq, match_id, created_at }) => ({
    key: monitor_id,
    value: JSON.stringify({
      v: 1,
      monitor_id,
      seq,
      match_id,
      attempt: 1,
      started_at: created_at,
      duration_ms: 12,
      webhook_kind: 'generic',
      host: 'hooks.example.com',
      status: 200,
      error: null,
      delivery_status: 'delivered',
      next_attempt_at: null,
    }),
  }));
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
    signal: new AbortController().signal,
    mayContinue: () => Promise.resolve(true),
  });
}

async function erasure(): Promise<{ here: boolean; heads: boolean; finished: boolean }> {
  const { rows } = await pipeline.db.pool.query<{ here: boolean; heads: boolean; finished: boolean }>(
    `SELECT erased_here_at IS NOT NULL AS here, archive_offsets IS NOT NULL AS heads, finished_at IS NOT NULL AS finished
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
  await pipeline.start('archiver');
  await match(...mine.monitorIds, ...other.monitorIds);
  await Promise.all([expectArchived(mine, 2), expectArchived(other, 2)]);
  await pipeline.stopLast();
  await match(...mine.monitorIds, ...other.monitorIds);
  await close(mine);

  await advance();
  expect(await erasure()).toEqual({ here: true, heads: false, finished: false });
  await advance();
  expect(await erasure(), 'what is being published now has a minute').toEqual({
    here: true,
    heads: false,
    finished: false,
  });
  expect(await archived(mine)).toEqual([2, 2]);

  await pipeline.db.setShift('61 seconds');
  await advance();
  expect(await erasure()).toEqual({ here: true, heads: true, finished: false });
  expect(await archived(mine), 'what was archived goes at once').toEqual([0, 0]);
  await advance();
  expect((await erasure()).finished, 'while no archiver runs').toBe(false);

  await pipeline.start('archiver');
  await Promise.all([expectArchived(mine, 2), expectArchived(other, 4)]);
  await eventually('it is finished', async () => {
    await advance();
    return (await erasure()).finished;
  });
  expect([await archived(mine), await archived(other)]).toEqual([
    [0, 0],
    [4, 4],
  ]);
  const { rows } = await pipeline.db.pool.query('SELECT FROM matched_items');
  expect(rows).toHaveLength(2);
});

test('waits only for the topic offsets read at the start, and also finishes for an account without monitors', async () => {
  await pipeline.start('archiver');
  await match(...mine.monitorIds);
  await expectArchived(mine, 2);
  await close(mine);
  await advance();
  await pipeline.stopLast();
  await match(...other.monitorIds);
  await pipeline.db.setShift('61 seconds');
  await advance();
  const heads = () => pipeline.db.pool.query('SELECT archive_offsets FROM account_erasures');
  const { rows } = await heads();
  await match(...other.monitorIds);
  await advance();
  expect((await heads()).rows).toEqual(rows);
  expect((await erasure()).finished).toBe(false);

  const [empty] = await insertPayingAccounts(pipeline.db.pool, { accounts: 1, monitors: 0, credits: 0 });
  await close(empty!);
  await advance();
  await pipeline.db.setShift('200 seconds');
  await pipeline.start('archiver');
  await eventually('both are finished', async () => {
    await advance();
    const { rows: open } = await pipeline.db.pool.query('SELECT FROM account_erasures WHERE finished_at IS NULL');
    return open.length === 0;
  });
  await expectArchived(other, 4);
});
