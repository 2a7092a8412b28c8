import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
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

/** A client of the account that closes with the test. */
async function connect(apiKey: string) {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })) as unknown as Result;
}

test('changes a monitor, and explains a rule on a text', async () => {
  const { apiKey } = await api.account({ credits: 25, pack: 9 });
  const { id } = await api.monitor(apiKey, { keywords: ['iron'] });
  const call = await connect(apiKey);
  const changed = await call('update_monitor', { id, keywords: ['rust', 'the'], exclude: ['belt'] });
  expect(changed.structuredContent).toMatchObject({ monitor: { id, keywords: ['rust', 'the'] } });
  expect(changed.content[0]!.text).toContain('keywords: rust, the · not: belt');
  expect(changed.content[0]!.text).toContain('\nWarning: "the" is in');
  const settings = { keywords: ['rust'], exclude: ['belt'], subreddits: ['metals'] };
  const item = { kind: 'comment', body: 'a rusty belt' };
  const explained = await call('explain_rule', { settings, item });
  expect(explained.structuredContent).toMatchObject({ matched: false, excludes: [{ term: 'belt', matched: true }] });
  expect(explained.content[0]!.text.split('\n')).toEqual([
    'It does not match the rule.',
    '- rust: not in it. “rusty” contains “rust”, but as a part of a longer word.',
    '- excluded: belt: in body 8–12',
    'Rejected by: subreddit',
  ]);
});

test('creates a monitor with conditions, reads it, and mutes what is noise', async () => {
  const { apiKey } = await api.account({ credits: 25, pack: 9 });
  const call = await connect(apiKey);
  const created = await call('create_monitor', {
    name: 'jobs',
    terms: [{ text: 'hiring', prefix: true, in: ['title'] }],
    require: [['rust', { text: 'Go', case_sensitive: true }]],
    exclude_subreddits: ['jokes'],
    authors: null,
    exclude: null,
    nsfw: null,
    webhook_url: null,
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
});

test('starts a backfill, reads its progress and cancels it', async () => {
  const { apiKey } = await api.account({ credits: 25, pack: 9 });
  const { id } = await api.monitor(apiKey, { keywords: ['iron'] });
  const call = await connect(apiKey);
  expect((await call('get_backfill', { id })).content[0]!.text).toBe('No backfill yet.');
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const started = await call('start_backfill', { id, from, max_credits: 3 });
  const { backfill } = started.structuredContent as { backfill: Record<string, unknown> };
  expect(backfill).toMatchObject({ state: 'running', from, max_credits: 3 });
  const shown = await call('get_backfill', { id });
  expect(shown.structuredContent).toEqual({ items: [backfill] });
  expect(shown.content[0]!.text).toContain('running (bf_');
  const cancelled = await call('cancel_backfill', { id, run_id: backfill.id });
  expect(cancelled.structuredContent).toEqual({ backfill: { ...backfill, state: 'cancelling' } });
  const created = await call('create_monitor', { name: 'with', keywords: ['ore'], backfill_hours: 24 });
  expect(created.structuredContent).toMatchObject({ backfill: { state: 'running', max_credits: null } });
});
