import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMailboxHash } from '../../../shared/accounts/rules/mailbox.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../../shared/accounts/close-account.ts';
import {
  allow,
  askMcp,
  authorizationUrl,
  exchangeOf,
  newEmail,
  newPkce,
  post,
  publish,
  REDIRECT,
  refreshTokens,
  startOAuthInstallation,
  tokensFor,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation, Pkce, TokenReply, Tokens } from '../../support/fixtures/oauth-installation.ts';
import { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';

let at: OAuthInstallation;
let client: string;
beforeAll(async () => {
  at = await startOAuthInstallation();
  client = publish(at);
});
afterAll(() => at.stop());
beforeEach(() => at.reset());

async function codeFor(changes: Record<string, string | undefined> = {}): Promise<{ pkce: Pkce; callback: URL }> {
  const pkce = newPkce();
  return { pkce, callback: await allow(at, authorizationUrl(at, client, pkce, changes), newEmail()) };
}

const refresh = (token: string, clientId = client, more: Record<string, string> = {}) =>
  refreshTokens(at, clientId, token, more);
function isInvalidGrant({ status, body }: TokenReply): void {
  expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' });
}

/**
 * The tool server's answer to a token, which must be the same for listing and for calling tools: they admit in
 * different ways.
 */
async function statusOf(token: string): Promise<number> {
  const [listed, called] = [await askMcp(at, token), await askMcp(at, token, 'tools/call')];
  expect(called.status).toBe(listed.status);
  return listed.status;
}

describe('codes', () => {
  test('the answer has the tokens, their lifetime and scope, and must not be cached', async () => {
    const { pkce, callback } = await codeFor();
    expect(callback.searchParams.get('state')).toBe('a state');
    expect(callback.searchParams.get('iss')).toBe(at.baseUrl);
    const reply = await post(at, '/oauth/token', exchangeOf(client, pkce, callback));
    expect(reply.status).toBe(200);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.body).toEqual({
      access_token: expect.stringMatching(/^oat_[0-9a-z]{52}$/) as string,
      refresh_token: expect.stringMatching(/^ort_[0-9a-z]{52}$/) as string,
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'forum:read monitors',
    });
    expect(await statusOf(String(reply.body.access_token))).toBe(200);
  });

  test('a reused code is refused, and what it issued is revoked', async () => {
    const { pkce, callback } = await codeFor();
    const exchange = exchangeOf(client, pkce, callback);
    const { body } = await post(at, '/oauth/token', exchange);
    expect(await statusOf(String(body.access_token))).toBe(200);
    await at.db.setShift('10 minutes');
    isInvalidGrant(await post(at, '/oauth/token', exchange));
    expect(await statusOf(String(body.access_token))).toBe(401);
    isInvalidGrant(await refresh(String(body.refresh_token)));
  });

  test('two concurrent uses of a code leave no valid token', async () => {
    const { pkce, callback } = await codeFor();
    const exchange = exchangeOf(client, pkce, callback);
    const replies = await Promise.all([1, 2, 3, 4].map(() => post(at, '/oauth/token', exchange)));
    expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const { body } of replies) {
      if (typeof body.access_token !== 'string') continue;
      expect(await statusOf(body.access_token)).toBe(401);
      isInvalidGrant(await refresh(String(body.refresh_token)));
    }
  });

  test('a code is valid for a minute', async () => {
    const [old, young] = [await codeFor(), await codeFor()];
    await at.db.setShift('45 seconds');
    expect((await post(at, '/oauth/token', exchangeOf(client, young.pkce, young.callback))).status).toBe(200);
    await at.db.setShift('61 seconds');
    isInvalidGrant(await post(at, '/oauth/token', exchangeOf(client, old.pkce, old.callback)));
  });

  test.each([
    ['another verifier', () => ({ code_verifier: newPkce().verifier }), 'invalid_grant'],
    ['no verifier', () => ({ code_verifier: undefined }), 'invalid_grant'],
    ['the challenge itself', (pkce: Pkce) => ({ code_verifier: pkce.challenge }), 'invalid_grant'],
    ['another redirect', () => ({ redirect_uri: `${REDIRECT}/other` }), 'invalid_grant'],
    ['no redirect', () => ({ redirect_uri: undefined }), 'invalid_request'],
    ['another resource', () => ({ resource: 'https://other.example.test/mcp' }), 'invalid_target'],
    ['another client', () => ({ client_id: publish(at) }), 'invalid_grant'],
    ['no client', () => ({ client_id: undefined }), 'invalid_request'],
    ['an unknown client', () => ({ client_id: 'ocl_unknown' }), 'invalid_client'],
  ])('a code with %s yields nothing', async (_what, change, error) => {
    const { pkce, callback } = await codeFor();
    const reply = await post(at, '/oauth/token', { ...exchangeOf(client, pkce, callback), ...change(pkce) });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect(reply.body).toMatchObject({ error });
    expect(reply.body.access_token).toBeUndefined();
  });
});

describe('tokens', () => {
  test('are valid only on the tool server', async () => {
    const { access, refresh: refreshToken } = await tokensFor(at, client, newEmail());
    expect(await statusOf(access)).toBe(200);
    for (const path of ['/v1/account', '/v1/monitors', '/v1/forum/search?q=a']) {
      const headers = { authorization: `Bearer ${access}` };
      expect((await at.fetch(at.baseUrl + path, { headers })).status, path).toBe(401);
    }
    expect(await statusOf(refreshToken)).toBe(401);
    const other = await at.apis[0].account();
    expect(await statusOf(other.apiKey)).toBe(200);
  });

  test('a refusal says where to sign in', async () => {
    const metadata = `resource_metadata="${at.baseUrl}/.well-known/oauth-protected-resource/mcp"`;
    const challenge = async (token?: string) => (await askMcp(at, token)).headers.get('www-authenticate');
    expect(await challenge()).toBe(`Bearer ${metadata}, scope="forum:read monitors"`);
    expect(await challenge('oat_' + '0'.repeat(52))).toBe(
      `Bearer error="invalid_token", ${metadata}, scope="forum:read monitors"`,
    );
    expect(await challenge('fk_' + '0'.repeat(40))).toContain('error="invalid_token"');
  });

  test('expire after an hour', async () => {
    const { access } = await tokensFor(at, client, newEmail());
    await at.db.setShift('59 minutes');
    expect(await statusOf(access)).toBe(200);
    await at.db.setShift('61 minutes');
    expect(await statusOf(access)).toBe(401);
  });

  test('are renewed for 30 days at a time, each time with a new refresh token, for a year', async () => {
    let { refresh: token } = await tokensFor(at, client, newEmail());
    const { refresh: unused } = await tokensFor(at, client, newEmail());
    for (const day of [29, 58, 87, 116, 145, 174, 203, 232, 261, 290, 319, 348]) {
      await at.db.setShift(`${day} days`);
      const { status, body } = await refresh(token);
      expect(status, `day ${day}`).toBe(200);
      expect(body.refresh_token).not.toBe(token);
      expect(await statusOf(String(body.access_token))).toBe(200);
      token = String(body.refresh_token);
      if (day > 30) isInvalidGrant(await refresh(unused));
    }
    await at.db.setShift('366 days');
    isInvalidGrant(await refresh(token));
  });

  test('a refresh token is bound to its client and resource, and cannot widen its scope', async () => {
    const { refresh: token } = await tokensFor(at, client, newEmail(), { scope: 'forum:read' });
    isInvalidGrant(await refresh(token, publish(at)));
    expect((await refresh(token, client, { scope: 'forum:read monitors' })).body).toMatchObject({
      error: 'invalid_scope',
    });
    const { status, body } = await refresh(token);
    expect({ status, scope: body.scope }).toEqual({ status: 200, scope: 'forum:read' });
    const wrong = await refresh(String(body.refresh_token), client, { resource: 'https://other.example.test/mcp' });
    expect(wrong.body).toMatchObject({ error: 'invalid_target' });
  });

  test.each(['access', 'refresh'] as const)(
    'revoking the %s token ends the grant; other clients cannot revoke it',
    async (which) => {
      const tokens = await tokensFor(at, client, newEmail());
      const foreign = await post(at, '/oauth/revoke', { client_id: publish(at), token: tokens[which] });
      expect(foreign.status).toBe(200);
      expect(await statusOf(tokens.access)).toBe(200);
      expect((await post(at, '/oauth/revoke', { client_id: client, token: tokens[which] })).status).toBe(200);
      expect(await statusOf(tokens.access)).toBe(401);
      isInvalidGrant(await refresh(tokens.refresh));
      expect((await post(at, '/oauth/revoke', { client_id: client, token: 'oat_unknown' })).status).toBe(200);
    },
  );
});

describe('accounts', () => {
  test('a frozen account is refused at once, and admitted again after it is unfrozen', async () => {
    const email = newEmail();
    const tokens = await tokensFor(at, client, email);
    const account = (await findAccount(at.db.pool, email))!;
    await freezeAccount(at.db.pool, account.id);
    expect(await statusOf(tokens.access)).toBe(403);
    isInvalidGrant(await refresh(tokens.refresh));
    await unfreezeAccount(at.db.pool, account.id);
    expect(await statusOf(tokens.access)).toBe(200);
    expect((await refresh(tokens.refresh)).status).toBe(200);
  });

  test('nothing of a deleted account remains', async () => {
    const email = newEmail();
    const tokens = await tokensFor(at, client, email);
    const account = (await findAccount(at.db.pool, email))!;
    await closeAccount(at.db.pool, account.id, { mailboxHash: createMailboxHash('x')(account.mailbox) });
    expect(await statusOf(tokens.access)).toBe(401);
    isInvalidGrant(await refresh(tokens.refresh));
    const left = await at.db.pool.query('SELECT FROM oauth_records WHERE account_id = $1', [account.id]);
    expect(left.rowCount).toBe(0);
  });
});

describe('renewal', () => {
  async function refreshed(token: string): Promise<Tokens> {
    const { status, body } = await refresh(token);
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    return { access: String(body.access_token), refresh: String(body.refresh_token) };
  }

  const statusOf = async ({ access }: Tokens) => (await askMcp(at, access)).status;

  /** Postgres refuses to store tokens of a kind while `work` runs, as one that starts refuses everything. */
  async function whileNotStored<T>(model: 'AccessToken' | 'RefreshToken', work: () => Promise<T>): Promise<T> {
    await at.db.pool.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'the database system is starting up' USING ERRCODE = 'cannot_connect_now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON oauth_records FOR EACH ROW WHEN (NEW.model = '${model}')
       EXECUTE FUNCTION refuse()`,
    );
    try {
      return await work();
    } finally {
      await at.db.pool.query('DROP FUNCTION refuse CASCADE');
    }
  }

  test.each(['AccessToken', 'RefreshToken'] as const)(
    'an outage before the new %s is stored is answered 503; the same token then gets new ones, also much later',
    async (model) => {
      const first = await tokensFor(at, client, newEmail());
      const unavailable = await whileNotStored(model, () => refresh(first.refresh));
      expect([unavailable.status, unavailable.body.error, unavailable.headers.get('retry-after')]).toEqual([
        503,
        'temporarily_unavailable',
        '5',
      ]);
      expect(await statusOf(first)).toBe(200);
      expect((await whileNotStored(model, () => refresh(first.refresh))).status).toBe(503);
      await at.db.setShift('10 minutes');
      const second = await refreshed(first.refresh);
      expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
      expect(await statusOf(await refreshed(second.refresh))).toBe(200);
    },
  );

  test('a token whose answer was lost gets new ones, which replace those that were lost', async () => {
    const first = await tokensFor(at, client, newEmail());
    const lost = [await refreshed(first.refresh), await refreshed(first.refresh)];
    const second = await refreshed(first.refresh);
    const third = await refreshed(second.refresh);
    expect(await statusOf(third)).toBe(200);
    // Whoever has one of the lost tokens has read an answer that was not for them.
    isInvalidGrant(await refresh(lost[1]!.refresh));
    for (const tokens of [first, ...lost, second, third]) expect(await statusOf(tokens)).toBe(401);
    isInvalidGrant(await refresh(third.refresh));
  });

  test('reusing a token after its successor was used revokes its whole grant and no other', async () => {
    const email = newEmail();
    const [first, other] = [await tokensFor(at, client, email), await tokensFor(at, client, email)];
    const second = await refreshed(first.refresh);
    const third = await refreshed(second.refresh);
    expect(await statusOf(first)).toBe(200);
    isInvalidGrant(await refresh(first.refresh));
    for (const tokens of [first, second, third]) expect(await statusOf(tokens)).toBe(401);
    isInvalidGrant(await refresh(third.refresh));
    expect(await statusOf(other)).toBe(200);
    expect(await statusOf(await refreshed(other.refresh))).toBe(200);
  });

  test('of concurrent uses some get tokens and the rest are told to come again; the grant stays', async () => {
    const first = await tokensFor(at, client, newEmail());
    const replies = await Promise.all([1, 2, 3, 4].map(() => refresh(first.refresh)));
    for (const { status, headers } of replies) {
      expect([200, 503]).toContain(status);
      if (status === 503) expect(headers.get('retry-after')).toBe('5');
    }
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    const second = await refreshed(first.refresh);
    expect(await statusOf(await refreshed(second.refresh))).toBe(200);
  });

  test('a request that was overtaken does not replace what the other got', async () => {
    const records = new SealedRecords(at.db.pool, at.apis[0].secretBox);
    const put = (id: string) =>
      records.put({ model: 'RefreshToken', id, payload: { grantId: 'a grant' }, validSeconds: 60 });
    const find = async (id: string) => (await records.find('RefreshToken', id))!;
    await put('ort_1');
    expect(await records.consumeRefreshToken('ort_1', null)).toBe(true);
    await put('ort_2');
    expect(await records.consumeRefreshToken('ort_1', null)).toBe(false);
    expect([(await find('ort_1')).consumed, (await find('ort_2')).consumed]).toEqual([false, false]);
    expect(await records.consumeRefreshToken('ort_1', (await find('ort_1')).consumedAt)).toBe(true);
    expect([(await find('ort_1')).consumed, (await find('ort_2')).consumed]).toEqual([false, true]);
  });
});

describe('in the dashboard', () => {
  async function visitorOf(email: string) {
    return visitDashboard(at.db.pool, at.apis[0].url, (await findAccount(at.db.pool, email))!.id);
  }

  test('connected programs are shown with their host, and disconnected at once', async () => {
    const email = newEmail();
    const client = publish(at, { client_name: '<b>Notebook</b>' });
    const { access: token } = await tokensFor(at, client, email);
    const person = await visitorOf(email);
    const list = await person.get('/programs');
    expect(list.html).toContain('&lt;b&gt;Notebook&lt;/b&gt;');
    expect(list.html).toContain(`Of ${new URL(client).host}`);
    const action = /action="[^"]*(\/programs\/gra_[0-9a-f]{24}\/revoke)"/.exec(list.html)![1]!;
    const stranger = newEmail();
    await tokensFor(at, client, stranger);
    expect((await (await visitorOf(stranger)).post(action)).status).toBe(404);
    expect((await askMcp(at, token)).status).toBe(200);
    const done = await person.post(action);
    expect([done.status, done.location]).toEqual([
      303,
      expect.stringMatching(/\/dashboard\/programs\?done=disconnected$/),
    ]);
    expect((await askMcp(at, token)).status).toBe(401);
  });
});
