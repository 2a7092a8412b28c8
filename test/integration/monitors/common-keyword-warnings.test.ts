import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const CONSEQUENCE = 'matches beyond the daily cap are suppressed, and at most 10,000 of those a day are stored.';
const OF_THE = `"the" is in about 40 % of all items: ${CONSEQUENCE}`;
const OF_HOW = `"How" is in about 10 % of all items: ${CONSEQUENCE}`;

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
  expect((await patch({ keywords: ['rust', 'the'] })).warnings).toEqual([OF_THE]);
  // The PATCH changes nothing, and the warning remains.
  expect((await patch({})).warnings).toEqual([OF_THE]);
  expect(Object.keys(await patch({ subreddits: ['rust'] }))).toEqual(['monitor']);
  expect((await patch({ subreddits: [] })).warnings).toEqual([OF_THE]);
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
    expect(warned.content[0]!.text).toContain(`\nWarning: ${OF_THE}`);
    const silent = await create(['rust']);
    expect(silent.structuredContent).not.toHaveProperty('warnings');
    expect(silent.content[0]!.text).not.toContain('Warning');
  } finally {
    await client.close();
  }
});
