import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertItems } from '../../../shared/stores/archive/archive-items.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { commentItem } from '../../support/samples/forum-items.ts';

const CONSEQUENCE = 'matches beyond the daily cap are suppressed, and at most 10,000 of those a day are stored.';
const common = (field: string, text: string) => ({ field, code: 'common_word', message: `${text}: ${CONSEQUENCE}` });
const OF_THE = common('keywords[0]', '"the" is in about 40 % of all items');
const OF_HOW = common('keywords[2]', '"How" is in about 10 % of all items');

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

test('create warns about very common words, and a repeat gives the same warning', async () => {
  const { apiKey } = await api.account();
  const body = { name: 'too much', keywords: ['the', 'rust', 'How'] };
  const create = () => api.call(apiKey, 'POST', '/v1/monitors', body, { 'idempotency-key': 'one' });
  const first = await create();
  expect(first.status).toBe(201);
  expect(Object.keys(first.body)).toEqual(['monitor', 'webhook_secret', 'warnings']);
  expect(first.body.warnings).toEqual([OF_THE, OF_HOW]);
  expect((await create()).text).toBe(first.text);
});

test('answers have no warnings when there is nothing to warn about', async () => {
  const { apiKey } = await api.account();
  for (const body of [{ keywords: ['the rust book'] }, { keywords: ['the'], subreddits: ['rust'] }]) {
    const reply = await api.call(apiKey, 'POST', '/v1/monitors', { name: 'a monitor', ...body });
    expect([reply.status, Object.keys(reply.body)]).toEqual([201, ['monitor', 'webhook_secret']]);
  }
});

test('PATCH checks the rule as it is after the change', async () => {
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey, { keywords: ['rust'] });
  const patch = async (body: object) => (await api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, body)).body;
  expect(Object.keys(await patch({ name: 'renamed' }))).toEqual(['monitor']);
  expect((await patch({ keywords: ['the', 'rust'] })).warnings).toEqual([OF_THE]);
  // The PATCH changes nothing, and the warning remains.
  expect((await patch({})).warnings).toEqual([OF_THE]);
  expect(Object.keys(await patch({ subreddits: ['rust'] }))).toEqual(['monitor']);
  expect((await patch({ subreddits: [] })).warnings).toEqual([OF_THE]);
  const excluded = await patch({ exclude: ['Rust'] });
  expect(excluded.warnings).toMatchObject([{ field: 'keywords[1]', code: 'keyword_excluded' }, OF_THE]);
});

test('nothing is refused because of a warning', async () => {
  const { apiKey } = await api.account();
  const keywords = ['rust OR go', 'title:rust', 'rust*', '"new york"', 'gone'];
  const body = { name: 'doubtful', keywords, exclude: ['gone'], posts: false, comments: false };
  const reply = await api.call(apiKey, 'POST', '/v1/monitors', body);
  expect(reply.status).toBe(201);
  expect((reply.body.warnings as { code: string }[]).map(({ code }) => code)).toEqual([
    'nothing_watched',
    'keyword_excluded',
    'search_operator',
    'field_prefix',
    'wildcard',
    'quotes_ignored',
  ]);
  expect(reply.body.monitor).toMatchObject({ keywords });
});

test('create_monitor has the warnings in its text and its structured answer', async () => {
  const { apiKey } = await api.account();
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit }));
  const create = async (keywords: string[]) => {
    // The client validates the answer against the tool's output schema.
    const answer = await client.callTool({ name: 'create_monitor', arguments: { name: 'from a tool', keywords } });
    return answer as unknown as { content: { text: string }[]; structuredContent: Record<string, unknown> };
  };
  try {
    const warned = await create(['the']);
    expect(warned.structuredContent.warnings).toEqual([OF_THE]);
    expect(warned.content[0]!.text).toContain(`\nWarning: ${OF_THE.message}`);
    const silent = await create(['rust']);
    expect(silent.structuredContent).not.toHaveProperty('warnings');
    expect(silent.content[0]!.text).not.toContain('Warning');
  } finally {
    await client.close();
  }
});

describe('with an archive', () => {
  let archive: TestArchive;
  let proxy: TcpProxy;
  let clickhouse: ClickHouseClient;
  let withArchive: TestApi;

  beforeAll(async () => {
    archive = await createTestArchive(db.pool);
    proxy = await TcpProxy.start(archive.url);
    clickhouse = createClickhouse(proxy.url, 'test');
    const items = Array.from({ length: 400 }, (_, number) => commentItem(number, number % 5 < 3 ? 'Banana!' : 'tea'));
    await insertItems(db.pool, archive.client, items);
    withArchive = await startTestApi(db.pool, { clickhouse });
  });

  afterAll(async () => {
    await withArchive.stop();
    await clickhouse.close();
    await proxy.stop();
    await archive.drop();
  });

  test('a common keyword has its share in the archive', async () => {
    const { apiKey } = await withArchive.account();
    const { id } = await withArchive.monitor(apiKey, { keywords: ['banana', 'the'] });
    // The first look may take longer than a request waits, because other files use the same two cores.
    const warnings = await eventually('the archive was sampled', async () => {
      const { body } = await withArchive.call(apiKey, 'PATCH', `/v1/monitors/${id}`, {});
      return JSON.stringify(body.warnings).includes('banana') && body.warnings;
    });
    const share = '"banana" is in about 60 % of the 400 items that the archive got last';
    expect(warnings).toEqual([common('keywords[0]', share)]);
  });

  test('an archive that hangs delays and fails nothing', async () => {
    proxy.freeze();
    const slow = await startTestApi(db.pool, { clickhouse });
    try {
      const { apiKey } = await slow.account();
      const begun = performance.now();
      const reply = await slow.call(apiKey, 'POST', '/v1/monitors', { name: 'fruit', keywords: ['the', 'banana'] });
      expect(reply.body.warnings).toEqual([OF_THE]);
      const changed = await slow.call(apiKey, 'PATCH', `/v1/monitors/${(reply.body.monitor as { id: string }).id}`, {});
      expect(changed.body.warnings).toEqual([OF_THE]);
      // Each waits 300 ms; the time-out of ClickHouse's client is 30 s.
      expect(performance.now() - begun).toBeLessThan(20_000);
    } finally {
      proxy.thaw();
      await slow.stop();
    }
  });
});
