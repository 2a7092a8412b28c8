import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import type { KeyScope } from '../../../schemas/api/account.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import { blankMatchedItems } from '../../../shared/crawl/crawl-cursors.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';

let db: TestDatabase;
let forum: TestForum;
let api: TestApi;
let account: TestAccount;

beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  api = await startTestApi(db.pool, { forum: forum.forum });
  account = await api.account({ credits: 10_000 });
});

afterEach(() => forum.calm());

afterAll(async () => {
  await api.stop();
  await forum.stop();
  await db.drop();
});

const ERAS = [
  ['2025, with a handshake', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
] as const;

interface Result {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent: Record<string, unknown>;
  _meta: Record<string, unknown>;
}

class Agent {
  readonly client: Client;

  private constructor(client: Client) {
    this.client = client;
  }

  static async connect(mode: (typeof ERAS)[number][1], key = account.apiKey): Promise<Agent> {
    // The client validates answers against the tools' output schemas.
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit }));
    return new Agent(client);
  }

  async call(name: string, args: Record<string, unknown>): Promise<Result> {
    return (await this.client.callTool({ name, arguments: args })) as unknown as Result;
  }
}

async function balanceAndEntries(accountId: string): Promise<{ balance: number; entries: string[] }> {
  const { rows } = await db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [accountId]);
  const ledger = await db.pool.query<{ entry: string }>(
    `SELECT kind || ' ' || amount AS entry FROM ledger_entries WHERE account_id = $1 ORDER BY id`,
    [accountId],
  );
  return { balance: rows[0]!.balance, entries: ledger.rows.map(({ entry }) => entry) };
}

async function postOf(key: string): Promise<{ id: string; author: string }> {
  const listing = await api.call(key, 'GET', '/v1/forum/subreddit?sub=coffee&sort=top&t=all&limit=1');
  return (listing.body.items as { id: string; author: string }[])[0]!;
}

/** The tools in their order, and the permission that each requires. */
const TOOLS: Record<string, KeyScope> = {
  get_forum_post: 'forum:read',
  get_forum_items: 'forum:read',
  list_subreddit_posts: 'forum:read',
  get_subreddit: 'forum:read',
  get_forum_user: 'forum:read',
  search_forum: 'forum:read',
  get_monitor_matches: 'monitors:read',
  list_monitors: 'monitors:read',
  create_monitor: 'monitors:write',
  update_monitor: 'monitors:write',
  pause_monitor: 'monitors:write',
  resume_monitor: 'monitors:write',
  list_mutes: 'monitors:read',
  add_mute: 'monitors:write',
  remove_mute: 'monitors:write',
  start_backfill: 'monitors:write',
  get_backfill: 'monitors:read',
  cancel_backfill: 'monitors:write',
  explain_match: 'monitors:read',
  explain_rule: 'monitors:write',
  preview_monitor: 'monitors:write',
  get_monitor_timeseries: 'monitors:read',
};

test('each tool requires its permission, and names it to a key that has only the others', async () => {
  const { accountId } = await api.account();
  const call = async (key: string, name: string) => {
    const headers = { authorization: `Bearer ${key}`, accept: 'application/json', 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });
    return (await fetch(`${api.url}/mcp`, { method: 'POST', headers, body })).text();
  };
  for (const scope of KEY_SCOPES) {
    const others = KEY_SCOPES.filter((other) => other !== scope);
    const [only, without] = [
      await issueApiKey(db.pool, accountId, 'only', [scope]),
      await issueApiKey(db.pool, accountId, 'without', others),
    ];
    for (const [name, required] of Object.entries(TOOLS)) {
      const refusal = `insufficient_scope: This key lacks the permission ${required}.`;
      expect([name, (await call(only, name)).includes(refusal)]).toEqual([name, scope !== required]);
      expect([name, (await call(without, name)).includes(refusal)]).toEqual([name, scope === required]);
    }
  }
});

test('matches of removed items have no text and no author in the answers of the tools', async () => {
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey);
  await recordMatches(db.pool, id, 1);
  const things = await db.pool.query<{ thing_id: string }>('SELECT thing_id FROM matches WHERE monitor_id = $1', [id]);
  const agent = await Agent.connect('legacy', apiKey);
  expect(JSON.stringify(await agent.call('get_monitor_matches', { id }))).toContain('A title');
  await blankMatchedItems(db.pool, [things.rows[0]!.thing_id]);
  const result = await agent.call('get_monitor_matches', { id });
  expect(result.structuredContent).toMatchObject({ items: [{ author: '[deleted]', body: '' }] });
  expect(JSON.stringify(result)).not.toMatch(/\bada\b|é|A title/u);
});

describe.each(ERAS)('a client of the revision %s', (_, mode) => {
  /** Connecting sends messages, of which ten a second are allowed. */
  let lasting: Agent;
  beforeAll(async () => {
    account = await api.account({ credits: 10_000 });
    lasting = await Agent.connect(mode);
  });
  afterAll(() => lasting.client.close());

  test('lists all tools with schemas of their arguments and answers', async () => {
    const { tools } = await lasting.client.listTools();
    // A model reads them all before its first call.
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(40_000);
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(TOOLS).sort());
    for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: 'object' });
      expect(`${title} ${description}`.length).toBeGreaterThan(20);
      expect(annotations).toMatchObject({
        readOnlyHint: !/create|update|pause|resume|add|remove|start|cancel/.test(name),
      });
    }
  });

  test('calls each tool, with the answer and the charge of its route', async () => {
    const { accountId, apiKey } = await api.account({ credits: 1_000 });
    const agent = await Agent.connect(mode, apiKey);
    const post = await postOf(apiKey);
    const monitor = await api.monitor(apiKey);
    const cases: [tool: string, args: Record<string, unknown>, method: string, path: string][] = [
      ['get_forum_post', { id: post.id, max_comments: 5 }, 'GET', `/v1/forum/post?id=${post.id}&max_comments=5`],
      ['get_forum_post', { id: post.id, format: 'graph' }, 'GET', `/v1/forum/post?id=${post.id}&format=graph`],
      ['get_forum_items', { ids: [post.id, 't3_zzzzzz'] }, 'GET', `/v1/forum/things?ids=${post.id},t3_zzzzzz`],
      [
        'list_subreddit_posts',
        { sub: 'coffee', limit: 3, nsfw: true },
        'GET',
        '/v1/forum/subreddit?sub=coffee&limit=3&nsfw=true',
      ],
      ['get_subreddit', { sub: 'r/coffee' }, 'GET', '/v1/forum/subreddit/about?sub=r/coffee'],
      ['get_forum_user', { name: post.author }, 'GET', `/v1/forum/user?name=${post.author}`],
      ['search_forum', { q: 'coffee', limit: 2 }, 'GET', '/v1/forum/search?q=coffee&limit=2'],
      ['search_forum', { q: 'coffee', type: 'subreddit' }, 'GET', '/v1/forum/search?q=coffee&type=subreddit'],
      ['search_forum', { q: post.author, type: 'user' }, 'GET', `/v1/forum/search?q=${post.author}&type=user`],
      ['get_monitor_matches', { id: monitor.id, limit: 5 }, 'GET', `/v1/monitors/${monitor.id}/matches?limit=5`],
      ['list_monitors', {}, 'GET', '/v1/monitors'],
      ['pause_monitor', { id: monitor.id }, 'POST', `/v1/monitors/${monitor.id}/pause`],
    ];
    for (const [tool, args, method, path] of cases) {
      const before = await balanceAndEntries(accountId);
      const route = await api.call(apiKey, method, path);
      const between = await balanceAndEntries(accountId);
      const result = await agent.call(tool, args);
      const after = await balanceAndEntries(accountId);
      const cost = before.balance - between.balance;
      expect([tool, result.isError, between.balance - after.balance]).toEqual([tool, undefined, cost]);
      expect(after.entries.slice(between.entries.length)).toEqual(between.entries.slice(before.entries.length));
      expect(result._meta).toMatchObject({ credits_used: cost, credits_remaining: after.balance });
      // The cache tier differs: the second answer comes from a cache.
      expect(withoutTier(result.structuredContent)).toEqual(withoutTier(route.body));
      expect(result.content).toHaveLength(1);
      expect(result.content[0]!.text.length).toBeGreaterThan(3);
    }
    await agent.client.close();
  });

  test('reads posts as Markdown, the same document as the route returns', async () => {
    const { id } = await postOf(account.apiKey);
    const { text } = await api.call(account.apiKey, 'GET', `/v1/forum/post?id=${id}&format=md`);
    const whole = await lasting.call('get_forum_post', { id });
    expect(whole.content[0]!.text).toBe(text);
    const alone = await lasting.call('get_forum_post', { id, format: 'md' });
    expect(alone.content[0]!.text).toBe(text);
    expect(Object.keys(alone.structuredContent)).toEqual(['meta']);
  });

  test('creates, pauses and resumes monitors', async () => {
    const { accountId, apiKey } = await api.account({ credits: 25, pack: 9 });
    const agent = await Agent.connect(mode, apiKey);
    const created = await agent.call('create_monitor', {
      name: 'metals',
      keywords: ['rust', 'iron ore'],
      subreddits: ['r/metals'],
    });
    expect(created._meta).toMatchObject({ credits_used: 10, credits_remaining: 15 });
    const { monitor } = created.structuredContent as { monitor: { id: string; keywords: string[]; status: string } };
    expect(monitor).toMatchObject({ keywords: ['rust', 'iron ore'], status: 'active' });
    expect(created.content[0]!.text).toContain(monitor.id);
    expect((await agent.call('pause_monitor', { id: monitor.id })).structuredContent).toEqual({ status: 'paused' });
    expect((await agent.call('resume_monitor', { id: monitor.id }))._meta).toMatchObject({
      credits_used: 10,
      credits_remaining: 5,
    });
    // It is already running, so nothing must be paid.
    expect((await agent.call('resume_monitor', { id: monitor.id }))._meta).toMatchObject({ credits_used: 0 });
    await agent.call('pause_monitor', { id: monitor.id });
    const refused = await agent.call('resume_monitor', { id: monitor.id });
    expect(refused).toMatchObject({
      isError: true,
      _meta: { credits_used: 0, error: { code: 'insufficient_credits', retryable: false } },
    });
    expect((await balanceAndEntries(accountId)).entries.slice(1)).toEqual(['monitor_create -10', 'monitor_resume -10']);
    await agent.client.close();
  });

  test('gets failures like those of the API, without a charge', async () => {
    const { accountId, apiKey } = await api.account({ credits: 50 });
    const other = await api.account();
    const foreign = await api.monitor(other.apiKey);
    const agent = await Agent.connect(mode, apiKey);
    const before = await balanceAndEntries(accountId);
    const codeOf = async (name: string, args: Record<string, unknown>) => {
      const result = await agent.call(name, args);
      const { error } = result._meta as { error: { code: string; retryable: boolean; retry_after?: number } };
      expect([result.isError, result.content[0]!.text.startsWith(`${error.code}: `)]).toEqual([true, true]);
      expect(Object.keys(result)).not.toContain('structuredContent');
      return error.code;
    };
    expect(await codeOf('get_forum_user', { name: 'nobody-at-all' })).toBe('not_found');
    expect(await codeOf('get_forum_post', { id: 't3_zzzzzz' })).toBe('not_found');
    expect(await codeOf('get_monitor_matches', { id: foreign.id })).toBe('not_found');
    expect(await codeOf('pause_monitor', { id: 'mon_nothing' })).toBe('not_found');
    await forum.fault({ kind: '5xx', count: 10 });
    expect(await codeOf('get_subreddit', { sub: 'diy' })).toBe('upstream_error');
    expect(await balanceAndEntries(accountId)).toEqual(before);
    await agent.client.close();
  });

  test.each([
    ['get_subreddit', {}, 'sub: is required'],
    ['get_subreddit', { sub: ['a', 'b'] }, 'sub: must be the name of a community'],
    ['list_subreddit_posts', { sub: 'coffee', limit: 101 }, 'limit: must be an integer from 1 to 100'],
    ['create_monitor', { name: 'x', keywords: 'rust' }, 'keywords: must be a list'],
    ['add_mute', { id: 'mon_x', kind: 'thread', value: '?' }, 'value: must be the id or the URL of a post'],
    [
      'create_monitor',
      { name: 'x', keywords: ['rust'], webhook_url: 'http://127.0.0.1/' },
      'webhook_url: must be an https:// URL',
    ],
    ['start_backfill', { id: 'mon_x' }, 'from: must be an ISO 8601'],
    ['create_monitor', { name: 'x', keywords: '["rust"' }, 'keywords: must be a list'],
  ])('answers bad arguments so that a model can mend its call: %s %j', async (name, args, message) => {
    const result = await lasting.call(name, args);
    expect(result).toMatchObject({ isError: true, _meta: { credits_used: 0, error: { code: 'invalid_request' } } });
    expect(result.content[0]!.text).toContain(message);
  });

  test('answers an unknown tool with a protocol error', async () => {
    await expect(lasting.call('nothing', {})).rejects.toMatchObject({ code: -32602, message: /Unknown tool: nothing/ });
  });

  test('reads lists, numbers and flags that were written as texts, and blanks as absent', async () => {
    const { apiKey } = await api.account({ credits: 1_000 });
    const agent = await Agent.connect(mode, apiKey);
    const made = await agent.call('create_monitor', {
      ...{ name: 'x', keywords: '["rust", "iron"]', nsfw: 'true', posts: true, terms: null, webhook_url: '' },
      ...{ match_in: '["title"]', digest: null },
    });
    expect(made.structuredContent, made.content[0]!.text).toMatchObject({
      monitor: { keywords: ['rust', 'iron'], nsfw: true, match_in: ['title'], webhook_url: null },
    });
    const { id } = made.structuredContent['monitor'] as { id: string };
    const changed = await agent.call('update_monitor', { id, match_in: null, nsfw: 'false', keywords: '["tin"]' });
    expect(changed.structuredContent).toMatchObject({ monitor: { keywords: ['tin'], nsfw: false } });
    expect(changed.structuredContent['monitor']).not.toMatchObject({ match_in: ['title'] });
    const listed = await agent.call('list_subreddit_posts', { sub: 'coffee', limit: '2', nsfw: 'true', after: '' });
    expect(listed.structuredContent).toMatchObject({ count: 2 });
    const found = await agent.call('get_forum_items', { ids: '["t3_zzzzzz"]' });
    expect(found.structuredContent).toEqual({ items: [], missing: ['t3_zzzzzz'] });
    await agent.client.close();
  });
});

test('untrusted texts cannot forge lines or Markdown in excerpts', async () => {
  const { excerptOf } = await import('../../../services/api/mcp/tool.ts');
  expect(excerptOf('one\n# two\r\n- three\u2028four `x` <b>')).not.toMatch(/[\n\r\u2028]|^#/);
  expect(Array.from(excerptOf('😀'.repeat(5_000))).length).toBeLessThan(310);
  expect(excerptOf('😀'.repeat(5_000)).isWellFormed()).toBe(true);
  expect(excerptOf('short')).toBe('short');
});

/** The tools of an account, called in the revision with a handshake. */
async function tools(apiKey: string) {
  const agent = await Agent.connect('legacy', apiKey);
  onTestFinished(() => agent.client.close());
  return (name: string, args: Record<string, unknown>) => agent.call(name, args);
}

test('changes a monitor, and explains a rule on a text', async () => {
  const { apiKey } = await api.account({ credits: 25, pack: 9 });
  const { id } = await api.monitor(apiKey, { keywords: ['iron'] });
  const call = await tools(apiKey);
  const changed = await call('update_monitor', { id, keywords: ['rust', 'the'], exclude: ['belt'] });
  expect(changed.structuredContent).toMatchObject({ monitor: { id, keywords: ['rust', 'the'] } });
  const settings = { keywords: ['rust'], exclude: ['belt'], subreddits: ['metals'] };
  const item = { kind: 'comment', body: 'a rusty belt' };
  const explained = await call('explain_rule', { settings, item });
  expect(explained.structuredContent).toMatchObject({ matched: false, excludes: [{ term: 'belt', matched: true }] });
});

test('creates a monitor with conditions, reads it, and mutes what is noise', async () => {
  const { apiKey } = await api.account({ credits: 25, pack: 9 });
  const call = await tools(apiKey);
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
  const { id } = monitor;
  const added = await call('add_mute', { id, kind: 'author', value: 'u/Noisy' });
  const { mute } = added.structuredContent as { mute: { id: string } };
  expect([added.content[0]!.text, mute]).toMatchObject([`Muted: u/noisy (${mute.id})`, { value: 'noisy' }]);
  expect((await call('list_mutes', { id })).structuredContent).toEqual({ items: [mute], limit: 500 });
  const removed = await call('remove_mute', { id, mute_id: mute.id });
  expect(removed.structuredContent).toEqual({ status: 'deleted' });
});

test('starts a backfill, reads its progress and cancels it', async () => {
  const { apiKey } = await api.account({ credits: 25, pack: 9 });
  const { id } = await api.monitor(apiKey, { keywords: ['iron'] });
  const call = await tools(apiKey);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const started = await call('start_backfill', { id, from, max_credits: 3 });
  const { backfill } = started.structuredContent as { backfill: Record<string, unknown> };
  expect(backfill).toMatchObject({ state: 'running', from, max_credits: 3 });
  const shown = await call('get_backfill', { id });
  expect(shown.structuredContent).toEqual({ items: [backfill] });
  const cancelled = await call('cancel_backfill', { id, run_id: backfill.id });
  expect(cancelled.structuredContent).toEqual({ backfill: { ...backfill, state: 'cancelling' } });
  const created = await call('create_monitor', { name: 'with', keywords: ['ore'], backfill_hours: 24 });
  expect(created.structuredContent).toMatchObject({ backfill: { state: 'running', max_credits: null } });
});

function withoutTier(body: Record<string, unknown>): Record<string, unknown> {
  const { meta, ...rest } = body as { meta?: Record<string, unknown> };
  return meta === undefined ? rest : { ...rest, meta: { ...meta, cache: 'any' } };
}
