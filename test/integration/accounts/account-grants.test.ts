import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runAdmin } from '../../../services/admin/run-admin.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import {
  askMcp,
  newEmail,
  post,
  publish,
  startOAuthInstallation,
  tokensFor,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;

beforeAll(async () => {
  at = await startOAuthInstallation();
});
afterAll(() => at.stop());
beforeEach(() => at.reset());

interface Grant {
  id: string;
  client_id: string;
  client_name: string | null;
  scopes: string[];
  granted_at: string;
  last_used_at: string | null;
}

/** Opens a mailbox's account by signing in, and issues a key for it. */
async function keyOf(email: string): Promise<string> {
  return issueApiKey(at.db.pool, (await findAccount(at.db.pool, email))!.id, 'test');
}

async function grantsOf(key: string): Promise<Grant[]> {
  const { status, body } = await at.apis[0].call(key, 'GET', '/v1/account/grants');
  expect(status).toBe(200);
  return body.items as Grant[];
}

async function statuses(token: string): Promise<number[]> {
  return [(await askMcp(at, token)).status, (await askMcp(at, token, 'tools/call')).status];
}

async function admin(args: string[]): Promise<{ code: number; lines: Record<string, unknown>[]; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const env = { DATABASE_URL: at.db.url, SECRET_KEY: 'a secret key for tests, 32 characters' };
  const code = await runAdmin(args, env, { out: (line) => out.push(line), err: (line) => err.push(line) });
  return { code, lines: out.map((line) => JSON.parse(line) as Record<string, unknown>), err: err.join('\n') };
}

test('an account lists its grants with name, scopes and last use', async () => {
  const email = newEmail();
  const [notebook, nameless] = [publish(at), publish(at, { client_name: undefined })];
  const { access } = await tokensFor(at, notebook, email);
  await at.db.setShift('1 minute');
  await tokensFor(at, nameless, email, { scope: 'forum:read' });
  const key = await keyOf(email);
  const [second, first] = await grantsOf(key);
  expect([first, second]).toMatchObject([
    { client_id: notebook, client_name: 'Notebook', scopes: ['forum:read', 'monitors'], last_used_at: null },
    { client_id: nameless, client_name: null, scopes: ['forum:read'], last_used_at: null },
  ]);
  expect(Date.parse(second!.granted_at)).toBeGreaterThan(Date.parse(first!.granted_at));
  await askMcp(at, access, 'tools/call');
  const [, used] = await grantsOf(key);
  expect(Date.parse(used!.last_used_at!)).toBeGreaterThan(Date.parse(first!.granted_at));
  // To the minute: a call must not write a row each time.
  await askMcp(at, access, 'tools/call');
  expect((await grantsOf(key))[1]!.last_used_at).toBe(used!.last_used_at);
  expect(JSON.stringify(await grantsOf(key))).not.toMatch(/o(at|rt|ac)_/);
});

test('a revoked grant stops at once in every process, with its access and refresh tokens; other grants stay', async () => {
  const email = newEmail();
  const client = publish(at);
  const [gone, kept] = [await tokensFor(at, client, email), await tokensFor(at, client, email)];
  const key = await keyOf(email);
  const grants = await grantsOf(key);
  expect(grants).toHaveLength(2);
  const before = await statuses(gone.access);
  const first = grants.at(-1)!;
  expect((await at.apis[1].call(key, 'DELETE', `/v1/account/grants/${first.id}`)).body).toEqual({ status: 'revoked' });
  // Asks each process in turn.
  expect([...(await statuses(gone.access)), ...(await statuses(gone.access))]).toEqual([401, 401, 401, 401]);
  const refreshed = await post(at, '/oauth/token', {
    grant_type: 'refresh_token',
    client_id: client,
    refresh_token: gone.refresh,
  });
  expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  expect([before, await statuses(kept.access)]).toEqual([
    [200, 200],
    [200, 200],
  ]);
  expect((await grantsOf(key)).map(({ id }) => id)).toEqual([grants[0]!.id]);
  // A repeated request is answered like the first.
  const again = await at.apis[0].call(key, 'DELETE', `/v1/account/grants/${first.id}`);
  expect([again.status, again.body]).toEqual([200, { status: 'revoked' }]);
});

test('codes and refresh tokens exchanged during the revocation of their grant yield no working token', async () => {
  const email = newEmail();
  const client = publish(at);
  for (let round = 0; round < 5; round++) {
    const { refresh } = await tokensFor(at, client, email);
    const key = await keyOf(email);
    const [grant] = await grantsOf(key);
    const [reply] = await Promise.all([
      post(at, '/oauth/token', { grant_type: 'refresh_token', client_id: client, refresh_token: refresh }),
      at.apis[round % 2]!.call(key, 'DELETE', `/v1/account/grants/${grant!.id}`),
    ]);
    if (reply.status === 200) expect(await statuses(String(reply.body.access_token))).toEqual([401, 401]);
  }
});

test("returns 404 for another account's grants", async () => {
  const email = newEmail();
  const { access } = await tokensFor(at, publish(at), email);
  const [grant] = await grantsOf(await keyOf(email));
  const { apiKey } = await at.apis[0].account();
  expect(await grantsOf(apiKey)).toEqual([]);
  expect((await at.apis[0].call(apiKey, 'DELETE', `/v1/account/grants/${grant!.id}`)).status).toBe(404);
  expect(await statuses(access)).toEqual([200, 200]);
  // Nor can a program with its token.
  const asked = await at.fetch(`${at.baseUrl}/v1/account/grants`, { headers: { authorization: `Bearer ${access}` } });
  expect(asked.status).toBe(401);
});

test('the administrator lists and revokes grants', async () => {
  const email = newEmail();
  const client = publish(at);
  const { access } = await tokensFor(at, client, email);
  const { lines } = await admin(['grant', 'list', '--email', email]);
  expect(lines).toMatchObject([
    { client_id: client, client_name: 'Notebook', scopes: ['forum:read', 'monitors'], last_used_at: null },
  ]);
  const revoke = ['grant', 'revoke', '--email', email, '--grant', String(lines[0]!.grant_id)];
  expect(await admin(revoke)).toMatchObject({ code: 0, lines: [{ status: 'revoked' }] });
  expect(await statuses(access)).toEqual([401, 401]);
  expect(await admin(revoke)).toMatchObject({ code: 0, lines: [{ status: 'revoked' }] });
  expect((await admin(['grant', 'list', '--email', email])).lines).toEqual([]);
  const wrong = await admin([...revoke.slice(0, -1), 'x']);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('--grant')]);
});
