import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ItemExplanation, RuleExplanation } from '../../../schemas/api/rules.ts';
import { insertItems } from '../../../shared/archive/archive-rows.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

let db: TestDatabase;
let archive: TestArchive;
let proxy: TcpProxy;
let clickhouse: ClickHouseClient;
let api: TestApi;
let owner: TestAccount;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  proxy = await TcpProxy.start(archive.url);
  clickhouse = createClickhouse(proxy.url, 'test');
  api = await startTestApi(db.pool, { clickhouse });
  owner = await api.account({ credits: 1_000, pack: 79 });
});

afterAll(async () => {
  await api.stop();
  await clickhouse.close();
  await proxy.stop();
  await archive.drop();
  await db.drop();
});

async function explained(id: string, thing: string): Promise<ItemExplanation> {
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/explain?thing=${thing}`);
  expect(reply.status).toBe(200);
  return reply.body as unknown as ItemExplanation;
}

const outcome = ({ history }: ItemExplanation) => {
  const last = history.at(-1);
  return [last?.event, last?.reason ?? last?.match_id];
};

/** An item that the service saw and archived a moment ago. */
async function see(thingId: string, more: Parameters<typeof forumItemOf>[1] = {}): Promise<void> {
  await insertItems(db.pool, archive.client, [forumItemOf(thingId, more)]);
}

describe('a text and a rule that are not stored', () => {
  test('each term says where it is, or what is nearest', async () => {
    const reply = await api.call(owner.apiKey, 'POST', '/v1/monitors/explain', {
      settings: {
        keywords: ['rust', 'C++'],
        exclude: ['belt'],
        require: [['memory', 'safety']],
        authors: ['bob'],
      },
      item: { kind: 'comment', body: 'My trusty C++ and its memory', author: 'ana', subreddit: 'cpp' },
    });
    expect(reply.status).toBe(200);
    const { matched, terms, require, excludes, filters, history } = reply.body as unknown as RuleExplanation;
    expect(matched).toBe(false);
    expect(terms).toMatchObject([
      { term: 'rust', matched: false, rule: 'word', nearest: { reason: 'inside_word', written: 'trusty' } },
      { term: 'C++', matched: true, rule: 'punctuation', positions: [{ field: 'body', start: 10, end: 13 }] },
    ]);
    expect(terms[0]?.nearest?.message).toBe('“trusty” contains “rust”, but as part of a longer word.');
    expect(require).toMatchObject([{ matched: true, terms: [{ matched: true }, { matched: false }] }]);
    expect(excludes).toMatchObject([{ term: 'belt', matched: false }]);
    expect(filters).toEqual([
      { filter: 'kind', passed: true },
      { filter: 'nsfw', passed: true },
      { filter: 'author', passed: false },
    ]);
    expect(history).toEqual([]);
    expect(reply.headers.get('x-credits-remaining')).toBe('1000');
  });
});

describe('an item that the service saw', () => {
  test('a recorded one has its match, though the rule has changed since', async () => {
    const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
    await see('t1_recorded');
    const item = forumItemOf('t1_recorded');
    const candidate = { ...candidateOf({ monitorId: id, thingId: 't1_recorded' }), item };
    const { matches } = await recordBatch({ pool: db.pool, toleranceMs: 0 }, [candidate]);
    await api.call(owner.apiKey, 'PATCH', `/v1/monitors/${id}`, { keywords: ['copper'] });
    const answer = await explained(id, 't1_recorded');
    expect(answer).toMatchObject({ matched: false, item: { thing_id: 't1_recorded', body: item.body } });
    expect(answer.history.map(({ event }) => event)).toEqual(['created', 'seen', 'judged', 'recorded']);
    expect(answer.history[2]).toMatchObject({ version: 1 });
    expect(outcome(answer)).toEqual(['recorded', matches[0]?.match_id]);
  });

  test('the history tells of the rule, the state and the mutes that decided', async () => {
    const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
    const path = `/v1/monitors/${id}`;
    await see('t1_quick');
    expect(outcome(await explained(id, 't1_quick'))).toEqual(['not_recorded', 'under_way']);
    await api.call(owner.apiKey, 'POST', `${path}/pause`);
    await see('t1_paused');
    await api.call(owner.apiKey, 'POST', `${path}/resume`);
    expect(outcome(await explained(id, 't1_paused'))).toEqual(['not_recorded', 'paused']);
    await see('t1_other', { title: '', body: 'Nothing of the kind, but copper.' });
    await api.call(owner.apiKey, 'PATCH', path, { keywords: ['copper'] });
    const other = await explained(id, 't1_other');
    expect([other.matched, ...outcome(other)]).toEqual([true, 'not_recorded', 'not_matched']);
    await see('t1_muted', { body: 'copper', author: 'noisy' });
    await api.call(owner.apiKey, 'POST', `${path}/mutes`, { kind: 'author', value: 'noisy' });
    const muted = await explained(id, 't1_muted');
    expect([muted.matched, ...outcome(muted)]).toEqual([false, 'not_recorded', 'muted']);
    expect(muted.filters).toContainEqual({ filter: 'muted', passed: false });
  });

  test('what came before the monitor, what was removed, and what was never seen', async () => {
    await see('t3_before', { body: 'rust' });
    const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
    expect(outcome(await explained(id, 't3_before'))).toEqual(['not_recorded', 'before_monitor']);
    await see('t3_removed', { body: 'rust, said in private' });
    await db.pool.query(`INSERT INTO removed_things (thing_id, at) VALUES ('t3_removed', service_now())`);
    const removed = await explained(id, 't3_removed');
    expect(removed.item).toMatchObject({ title: '', body: '', author: '[deleted]' });
    expect(removed.history.map(({ event, reason }) => reason ?? event)).toEqual([
      'created',
      'seen',
      'judged',
      'content_removed',
      'removed',
    ]);
    const unknown = await explained(id, 't3_nosuch');
    expect(unknown).toMatchObject({ matched: null, item: null, terms: [] });
    expect(outcome(unknown)).toEqual(['not_archived', undefined]);
  });

  test('500 items are explained in 24 hours, known or not', async () => {
    const reader = await api.account({ pack: 79 });
    const { id } = await api.monitor(reader.apiKey, { keywords: ['rust'] });
    await see('t1_free');
    const ask = (thing: string) => api.call(reader.apiKey, 'GET', `/v1/monitors/${id}/explain?thing=${thing}`);
    expect((await ask('t1_free')).status).toBe(200);
    await db.pool.query(
      `UPDATE recent_uses SET times = array_fill(service_now(), ARRAY[499]) WHERE name = 'explain:' || $1`,
      [reader.accountId],
    );
    expect((await ask('t1_absent')).status).toBe(200);
    const refused = await ask('t1_free');
    expect([refused.status, refused.body.error]).toMatchObject([429, { code: 'rate_limited' }]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
    expect((await ask('t1_absent')).status).toBe(429);
  });

  test('while the archive hangs, what was matched is still explained, and the rest is asked for later', async () => {
    const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
    const candidate = { ...candidateOf({ monitorId: id, thingId: 't1_known' }), item: forumItemOf('t1_known') };
    await recordBatch({ pool: db.pool, toleranceMs: 0 }, [candidate]);
    proxy.freeze();
    try {
      const path = `/v1/monitors/${id}/explain?thing=`;
      const [known, unknown] = await Promise.all(
        ['t1_known', 't1_unknown'].map((thing) => api.call(owner.apiKey, 'GET', path + thing)),
      );
      expect([known?.status, known?.body.matched]).toEqual([200, true]);
      expect([unknown?.status, unknown?.headers.get('retry-after')]).toEqual([503, '5']);
    } finally {
      proxy.thaw();
    }
  });
});
