import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

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

interface Result {
  content: { type: string; text: string }[];
  structuredContent: Record<string, unknown>;
}

test('creates a monitor with conditions, reads it, and mutes what is noise', async () => {
  const { apiKey } = await api.account({ credits: 25, pack: 9 });
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit }));
  const call = async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })) as unknown as Result;
  const created = await call('create_monitor', {
    name: 'jobs',
    terms: [{ text: 'hiring', prefix: true, in: ['title'] }],
    require: [['rust', { text: 'Go', case_sensitive: true }]],
    exclude_subreddits: ['jokes'],
    authors: null,
    exclude_authors: ['automod'],
    languages: ['en'],
    thread_once: true,
  });
  const { monitor } = created.structuredContent as { monitor: { id: string } };
  expect(monitor).toMatchObject({
    keywords: [],
    terms: [{ text: 'hiring', prefix: true, in: ['title'] }],
    thread_once: true,
  });
  const listed = await call('list_monitors', {});
  expect(listed.structuredContent).toMatchObject({ items: [monitor] });
  expect(listed.content[0]!.text).toContain(
    'terms: hiring (prefix, in title) · and one of: rust, Go (case-sensitive) · everywhere · not in r/jokes · not by u/automod · languages: en · once a thread and day',
  );
  const { id } = monitor;
  const added = await call('add_mute', { id, kind: 'author', value: 'u/Noisy' });
  const { mute } = added.structuredContent as { mute: { id: string } };
  expect([added.content[0]!.text, mute]).toMatchObject([`Muted: u/noisy (${mute.id})`, { value: 'noisy' }]);
  expect((await call('list_mutes', { id })).structuredContent).toEqual({ items: [mute], limit: 500 });
  const removed = await call('remove_mute', { id, mute_id: mute.id });
  expect(removed.structuredContent).toEqual({ status: 'deleted' });
  expect((await call('list_mutes', { id })).content[0]!.text).toBe('0 of 500 mutes:');
  await client.close();
});
