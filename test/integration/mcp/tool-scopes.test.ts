import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import type { KeyScope } from '../../../schemas/api/account.ts';
import { issueApiKey } from '../../../shared/stores/accounts/api-keys.ts';
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

/** The permission that each tool requires. A tool that is not listed fails the test. */
const TOOL_SCOPES: Record<string, KeyScope> = {
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
  const { accountId, apiKey } = await api.account();
  const send = async (key: string, method: string, params: object) => {
    const headers = { authorization: `Bearer ${key}`, accept: 'application/json', 'content-type': 'application/json' };
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const response = await fetch(`${api.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.text();
  };
  const call = (key: string, name: string) => send(key, 'tools/call', { name, arguments: {} });
  const listed = JSON.parse(await send(apiKey, 'tools/list', {})) as { result: { tools: { name: string }[] } };
  expect(listed.result.tools.map(({ name }) => name)).toEqual(Object.keys(TOOL_SCOPES));
  for (const scope of KEY_SCOPES) {
    const others = KEY_SCOPES.filter((other) => other !== scope);
    const [only, without] = [
      await issueApiKey(db.pool, accountId, 'only', [scope]),
      await issueApiKey(db.pool, accountId, 'without', others),
    ];
    for (const [name, required] of Object.entries(TOOL_SCOPES)) {
      const refusal = `insufficient_scope: This key lacks the permission ${required}.`;
      expect([name, (await call(only, name)).includes(refusal)]).toEqual([name, scope !== required]);
      expect([name, (await call(without, name)).includes(refusal)]).toEqual([name, scope === required]);
    }
  }
});
