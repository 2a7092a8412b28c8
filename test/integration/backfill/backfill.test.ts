import { afterAll, beforeAll, expect, test } from 'vitest';
import { counted } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import {
  allMatches,
  backfill,
  endedRun,
  publishedMatches,
  publishItems,
  seenItem,
  untilArchived,
} from '../../support/fixtures/backfill/backfill-fixture.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Comments that contain a word, a second apart, the oldest first. */
function comments(word: string, count: number) {
  return Array.from({ length: count }, (_, number) =>
    seenItem(`t1_${word}${number.toString(36).padStart(3, '0')}`, 2 * HOUR + (count - number) * 1_000, {
      body: `some ${word}`,
    }),
  );
}

const at = new Date(Date.now() - 4 * HOUR).toISOString();
const TUNGSTEN = [
  seenItem('t3_w5', 5 * HOUR, { title: 'Tungsten carbide' }),
  seenItem('t1_w3', 3 * HOUR, { body: 'TUNGSTEN!' }),
  // At the same moment the ids decide.
  seenItem('t1_w4b', 4 * HOUR, { body: 'tungsten b', first_seen_at: at }),
  seenItem('t1_w4a', 4 * HOUR, { body: 'tungsten a', first_seen_at: at }),
  seenItem('t1_w2', 2 * HOUR, { body: 'tungstens are no tungsten-free words' }),
  seenItem('t1_none', 2 * HOUR, { body: 'tungstens' }),
  seenItem('t1_nsfw', 2 * HOUR, { body: 'tungsten', nsfw: true }),
  seenItem('t1_old', 30 * HOUR, { body: 'tungsten, too old' }),
];
const COBALT = comments('cobalt', 3);
const RADIUM = comments('radium', 250);
const YTTRIUM_AT = Date.now() - HOUR;
const YTTRIUM = [0, 1, 2].map((number) => {
  const first_seen_at = new Date(YTTRIUM_AT + number).toISOString();
  return seenItem(`t1_yttrium${number}`, HOUR, { body: 'yttrium', first_seen_at });
});
/** Each test has items with a word of its own, so that none finds those of another. */
const ARCHIVED = [
  ...TUNGSTEN,
  ...COBALT,
  ...comments('nickel', 5),
  ...comments('argon', 2),
  seenItem('t1_argonmuted', HOUR, { body: 'argon', author: 'Seller' }),
  seenItem('t1_argongone', HOUR, { body: 'argon' }),
  ...RADIUM,
  ...comments('helium', 101),
  ...comments('osmium', 2),
  seenItem('t1_osiri', HOUR, { body: 'osmium and iridium' }),
  ...YTTRIUM,
];

let pipeline: Pipeline;
let receiver: WebhookReceiver;

beforeAll(async () => {
  pipeline = await Pipeline.create();
  receiver = await startWebhookReceiver();
  await pipeline.start('archiver', 'deliverer', 'recorder', 'matcher', 'backfills');
  await publishItems(pipeline, ARCHIVED);
  await untilArchived(pipeline, ARCHIVED.length);
});
afterAll(async () => {
  await pipeline.drop();
  await receiver.stop();
});

async function balanceOf(accountId: string): Promise<number> {
  const { rows } = await pipeline.db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
    accountId,
  ]);
  return rows[0]!.balance;
}

async function ledgerOf(accountId: string): Promise<{ amount: number; reference: string; route: string }[]> {
  const { rows } = await pipeline.db.pool.query<{ amount: number; reference: string; route: string }>(
    `SELECT amount, reference, route FROM ledger_entries WHERE account_id = $1 AND kind = 'backfill' ORDER BY id`,
    [accountId],
  );
  return rows;
}

const seqOf = (matchId: string) => Number(matchId.slice(-12));

test.concurrent(
  'what matched in the archive becomes matches after the existing ones, in the order of first sight',
  async () => {
    const { apiKey, accountId } = await pipeline.api.account();
    const { id } = await pipeline.api.monitor(apiKey, { keywords: ['tungsten'], webhook_url: receiver.url });
    await publishItems(pipeline, [seenItem('t1_live1', 0, { body: 'tungsten, live' })]);
    await eventually('the live match', async () => (await allMatches(pipeline, apiKey, id)).length === 1);
    const run = await backfill(pipeline, apiKey, id, { hours: 24 });
    expect(run).toMatchObject({ state: 'done', matches: 5, already_known: 1, credits: 1, delivered: 0, share: 1 });
    expect(run.scanned_to).toBe(run.to);
    const matches = await allMatches(pipeline, apiKey, id);
    expect(matches.map(({ thing_id }) => thing_id)).toEqual([
      't1_live1',
      't3_w5',
      't1_w4a',
      't1_w4b',
      't1_w3',
      't1_w2',
    ]);
    expect(matches.map((match) => seqOf(match.id))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(matches.map(({ backfill: found }) => found)).toEqual([undefined, true, true, true, true, true]);
    expect(matches[0]!.suppressed).toBe(false);
    expect(
      new Set(matches.slice(1).map(({ delivery_status, suppressed }) => `${delivery_status} ${suppressed}`)),
    ).toEqual(new Set(['none false']));
    expect(await ledgerOf(accountId)).toEqual([
      { amount: -1, reference: `${run.id}:1`, route: 'POST /v1/monitors/{id}/backfill' },
    ]);
    // They count nowhere as matches of the day.
    const shown = await pipeline.api.call(apiKey, 'GET', `/v1/monitors/${id}`);
    expect(shown.body.stats).toMatchObject({ matches_today: 1, matches_7d: 1 });

    const published = (await publishedMatches(pipeline)).filter(({ monitor_id }) => monitor_id === id);
    expect(new Set(published.map(({ seq }) => seq))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    const { first_seen_at } = TUNGSTEN[1]!;
    expect(published.find(({ item }) => item.thing_id === 't1_w3')).toMatchObject({
      backfill: true,
      first_delivery: 'none',
      entered_at: first_seen_at,
      first_seen_at,
    });
    await eventually('ClickHouse has them', async () => {
      const result = await pipeline.clickhouse.query({
        query: `SELECT seq, backfill FROM matches FINAL WHERE monitor_id = '${id}' ORDER BY seq`,
        format: 'JSONEachRow',
      });
      const rows = await result.json<{ seq: string; backfill: boolean }>();
      return JSON.stringify(rows.map(({ backfill: found }) => found)) === '[false,true,true,true,true,true]';
    });
    expect(receiver.received.filter(({ body }) => body.includes('tungsten'))).toHaveLength(1);
  },
);

test.concurrent(
  'a second run passes over what is recorded, free of charge; a live repeat finds the stored pair',
  async () => {
    const { apiKey, accountId } = await pipeline.api.account();
    const { id } = await pipeline.api.monitor(apiKey, { keywords: ['cobalt'] });
    expect(await backfill(pipeline, apiKey, id)).toMatchObject({ state: 'done', matches: 3, credits: 1 });
    const before = await balanceOf(accountId);
    expect(await backfill(pipeline, apiKey, id)).toMatchObject({
      state: 'done',
      matches: 0,
      already_known: 3,
      credits: 0,
    });
    expect(await balanceOf(accountId)).toBe(before);
    // A source sees one of them again, as if it were new.
    await publishItems(pipeline, [
      seenItem(COBALT[1]!.thing_id, 0, { body: 'some cobalt' }),
      seenItem('t1_cobaltnew', 0, { body: 'cobalt' }),
    ]);
    await eventually('the live match', async () => (await allMatches(pipeline, apiKey, id)).length >= 4);
    const matches = await allMatches(pipeline, apiKey, id);
    expect(matches.map(({ thing_id }) => thing_id)).toEqual([
      ...COBALT.map(({ thing_id }) => thing_id),
      't1_cobaltnew',
    ]);
    const published = await eventually('the repeat is published', async () => {
      const found = (await publishedMatches(pipeline)).filter(
        ({ monitor_id, item }) => monitor_id === id && item.thing_id === COBALT[1]!.thing_id,
      );
      return found.length >= 2 && found;
    });
    expect(new Set(published.map(({ seq, backfill: found }) => `${seq} ${found}`))).toEqual(new Set(['2 true']));
  },
);

test.concurrent('deliver sends what the day leaves of the cap, which then counts; the rest is not sent', async () => {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['nickel'], webhook_url: receiver.url });
  await pipeline.db.pool.query(
    `INSERT INTO monitor_days (monitor_id, day, matches) VALUES ($1, (service_now() AT TIME ZONE 'UTC')::date, 998)`,
    [id],
  );
  expect(await backfill(pipeline, apiKey, id, { deliver: true })).toMatchObject({ matches: 5, delivered: 2 });
  const webhooks = await eventually('two webhooks', () => {
    const found = receiver.received.filter(({ body }) => body.includes('nickel'));
    return found.length >= 2 ? found : undefined;
  });
  expect(webhooks.map(({ body }) => (JSON.parse(body) as { match: object }).match)).toMatchObject([
    { thing_id: 't1_nickel000', backfill: true },
    { thing_id: 't1_nickel001', backfill: true },
  ]);
  await eventually('the outcome', async () => {
    const states = (await allMatches(pipeline, apiKey, id)).map(({ delivery_status }) => delivery_status);
    return states.join() === 'delivered,delivered,none,none,none';
  });
  const shown = await pipeline.api.call(apiKey, 'GET', `/v1/monitors/${id}`);
  expect(shown.body.stats).toMatchObject({ matches_today: 1_000, suppressed_today: 0 });
  expect(await counted(pipeline.kafka.metrics, 'backfills_ended_total')).toBeGreaterThan(0);
  // Their two hours between the first sight and the delivery are not the service's latency.
  const sums = await eventually('a live delivery is measured', async () => {
    const { values } = await pipeline.kafka.metrics.deliveryLatency.get();
    const found = values.filter(({ metricName }) => metricName?.endsWith('_sum'));
    return found.length > 0 && found;
  });
  for (const { value } of sums) expect(value).toBeLessThan(3_600);
});

test.concurrent("today's mutes apply, and what the forum removed is not found", async () => {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['argon'] });
  await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/mutes`, { kind: 'author', value: 'seller' });
  await pipeline.db.pool.query(`INSERT INTO removed_things (thing_id, at) VALUES ('t1_argongone', service_now())`);
  await pipeline.clickhouse.command({
    query: `INSERT INTO items SELECT * REPLACE('' AS body, '' AS words, '[deleted]' AS author, 2 AS ver) FROM items WHERE thing_id = 't1_argongone'`,
  });
  expect(await backfill(pipeline, apiKey, id)).toMatchObject({ state: 'done', matches: 2, already_known: 0 });
  const matches = await allMatches(pipeline, apiKey, id);
  expect(matches.map(({ thing_id }) => thing_id)).toEqual(['t1_argon000', 't1_argon001']);
});

test.concurrent('a run stops when the credits are used up, loses nothing, and another one takes the rest', async () => {
  const { apiKey, accountId } = await pipeline.api.account({ credits: 12 });
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['radium'] });
  const first = await backfill(pipeline, apiKey, id);
  expect(first).toMatchObject({ state: 'stopped_balance', matches: 200, credits: 2 });
  expect(first.share).toBeGreaterThan(0);
  expect(first.share).toBeLessThan(1);
  expect(await balanceOf(accountId)).toBe(0);
  const { rowCount } = await pipeline.db.pool.query(
    `WITH given AS (UPDATE accounts SET balance = balance + 5 WHERE id = $1 RETURNING id, balance)
     INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
     SELECT id, 'grant', 5, balance, 'more' FROM given`,
    [accountId],
  );
  expect(rowCount).toBe(1);
  expect(await backfill(pipeline, apiKey, id)).toMatchObject({
    state: 'done',
    matches: 50,
    already_known: 200,
    credits: 1,
  });
  expect(await balanceOf(accountId)).toBe(4);
  expect((await allMatches(pipeline, apiKey, id)).map(({ thing_id }) => thing_id)).toEqual(
    RADIUM.map(({ thing_id }) => thing_id),
  );
  const charges = await ledgerOf(accountId);
  expect(charges.reduce((sum, { amount }) => sum - amount, 0)).toBe(3);
});

test.concurrent('max_credits stops a run before the match that would cost more', async () => {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['helium'] });
  expect(await backfill(pipeline, apiKey, id, { max_credits: 1 })).toMatchObject({
    state: 'stopped_credits',
    matches: 100,
    credits: 1,
  });
});

test.concurrent('a run matches by the rule of its start, also for a monitor that is paused meanwhile', async () => {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['osmium'], exclude: ['iridium'] });
  // Another run of the account is under way for so long, so that this one waits.
  const { api, db } = pipeline;
  const other = await api.monitor(apiKey, { keywords: ['nothing'] });
  await db.pool.query(
    `INSERT INTO backfills (id, monitor_id, account_id, version, rule, from_at, to_at, deliver, lease_until)
     SELECT 'bf_other', id, account_id, 1, '{}', service_now(), service_now(), false, service_now() + interval '1 hour'
     FROM monitors WHERE id = $1`,
    [other.id],
  );
  const path = `/v1/monitors/${id}`;
  await api.call(apiKey, 'POST', `${path}/backfill`, { from: new Date(Date.now() - 24 * HOUR).toISOString() });
  await api.call(apiKey, 'PATCH', path, { keywords: ['iridium'], exclude: [] });
  await api.call(apiKey, 'POST', `${path}/pause`);
  await db.pool.query(`DELETE FROM backfills WHERE id = 'bf_other'`);
  expect(await endedRun(pipeline, apiKey, id)).toMatchObject({ state: 'done', matches: 2 });
  expect((await allMatches(pipeline, apiKey, id)).map(({ matched_terms }) => matched_terms)).toEqual([
    ['osmium'],
    ['osmium'],
  ]);
});

test.concurrent('a run ends at its to, and what was seen later stays for another one', async () => {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['yttrium'] });
  const run = async (from: number, to: number) => {
    const body = { from: new Date(YTTRIUM_AT + from).toISOString(), to: new Date(YTTRIUM_AT + to).toISOString() };
    await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/backfill`, body);
    return endedRun(pipeline, apiKey, id);
  };
  expect(await run(0, 2)).toMatchObject({ matches: 2, scanned_to: new Date(YTTRIUM_AT + 2).toISOString() });
  expect(await run(2, 3)).toMatchObject({ matches: 1, already_known: 0 });
  expect((await allMatches(pipeline, apiKey, id)).map(({ thing_id }) => thing_id)).toEqual(
    YTTRIUM.map(({ thing_id }) => thing_id),
  );
});
