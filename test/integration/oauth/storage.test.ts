import { afterAll, beforeAll, expect, test } from 'vitest';
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import { admitRequests } from '../../../shared/accounts/request-limits.ts';
import { hashApiKey, hashOAuthId } from '../../../shared/accounts/rules/credentials.ts';
import { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import { deleteExpired } from '../../../shared/maintenance/retention.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import {
  askMcp,
  authorizationUrl,
  exchangeOf,
  newEmail,
  newPkce,
  post,
  publish,
  REDIRECT,
  refreshTokens,
  register,
  signIn,
  startOAuthInstallation,
  tokensFor,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';
import { findSecrets } from '../../support/runner/find-secrets.ts';

let at: OAuthInstallation;
let log = '';

beforeAll(async () => {
  at = await startOAuthInstallation(createLogger('trace', { write: (line: string) => void (log += line) }));
});
afterAll(() => at.stop());

/** Everything that the database has about sign-ins, as text, with bytes in hex. */
async function dump(): Promise<string> {
  const { rows } = await at.db.pool.query<{ all: string }>(
    `SELECT string_agg(r::text, E'\\n') AS all FROM oauth_records r`,
  );
  return rows[0]!.all;
}

const inHex = (text: string) => Buffer.from(text).toString('hex');

test('the database has no token, code or secret in any form; neither has a log', async () => {
  const registered = await register(at, { redirect_uris: [REDIRECT] });
  const { client_id: id, client_secret: secret } = registered.body as Record<string, string>;
  const pkce = newPkce();
  const browser = new Browser(at.fetch);
  const first = await browser.open(authorizationUrl(at, id!, pkce));
  const uid = first.url.pathname.split('/').at(-1)!;
  await signIn(at, browser, newEmail());
  const whileAsked = await dump();
  const { leftTo } = await browser.submit('/decision', { decision: 'allow' });
  const withCode = await dump();
  const reply = await post(at, '/oauth/token', { ...exchangeOf(id!, pkce, leftTo!), client_secret: secret! });
  const { access_token: access, refresh_token: refresh } = reply.body as Record<string, string>;
  await post(at, '/oauth/revoke', { client_id: id!, client_secret: secret!, token: 'oat_unknown' });
  const stored = [whileAsked, withCode, await dump()].join('\n');
  for (const text of [uid, secret!, leftTo!.searchParams.get('code')!, access!, refresh!, pkce.challenge]) {
    expect(text.length).toBeGreaterThan(15);
    expect(stored).not.toContain(text);
    expect(stored).not.toContain(inHex(text));
    expect(log).not.toContain(text);
  }
  expect(log).toContain('/oauth/token');
  expect(findSecrets(log)).toEqual([]);
});

test('tokens and clients survive a restart of the processes', async () => {
  const client = publish(at);
  const { access, refresh } = await tokensFor(at, client, newEmail());
  await at.restart();
  expect((await askMcp(at, access)).status).toBe(200);
  expect((await refreshTokens(at, client, refresh)).status).toBe(200);
});

test('expired records are deleted, valid ones stay', async () => {
  const client = publish(at);
  const old = await tokensFor(at, client, newEmail());
  await at.db.setShift('20 days');
  const young = await tokensFor(at, client, newEmail());
  await at.db.setShift('31 days');
  const renewed = await refreshTokens(at, client, young.refresh);
  const before = await count();
  expect(await deleteExpired(at.db.pool, 'oauth_records', 2)).toBe(2);
  expect(await count()).toBe(before - 2);
  const metrics = createMetrics();
  await sweepRetention({
    pool: at.db.pool,
    metrics,
    signal: new AbortController().signal,
    mayContinue: async () => true,
  });
  expect(await count()).toBeLessThan(before - 4);
  expect(await deleteExpired(at.db.pool, 'oauth_records', 1)).toBe(0);
  expect((await askMcp(at, String(renewed.body.access_token))).status).toBe(200);
  expect((await refreshTokens(at, client, old.refresh)).body).toMatchObject({ error: 'invalid_grant' });
  await at.db.setShift('0');
});

test('what was sealed with another secret key is not found', async () => {
  const other = new SealedRecords(at.db.pool, createSecretBox('another secret key'));
  await other.put({ model: 'Client', id: 'ocl_other', payload: {}, validSeconds: 60 });
  expect(await new SealedRecords(at.db.pool, at.apis[0].secretBox).find('Client', 'ocl_other')).toBeUndefined();
});

test('keys and tokens of an account share its limits, in one statement', async () => {
  const email = newEmail();
  const { access } = await tokensFor(at, publish(at), email);
  const account = (await findAccount(at.db.pool, email))!;
  const key = await issueApiKey(at.db.pool, account.id, 'a key', ['forum:read']);
  const byKey = { keyId: key.slice(3, 11), keyHash: hashApiKey(key) };
  const byToken = { tokenHash: hashOAuthId(access), audience: at.resource };
  const limits = new Map([[0, { requestsPerSecond: 1, burst: 3, requestsPerDay: 100 }]]);
  const asked = [
    byToken,
    { ...byToken, audience: 'https://other.example.test/mcp' },
    byKey,
    { tokenHash: hashOAuthId('oat_unknown'), audience: at.resource },
    byToken,
    byKey,
    { keyId: '', keyHash: byToken.tokenHash },
  ];
  const admitted = await admitRequests(at.db.pool, asked, limits);
  const facts = admitted.map(
    (one) => one?.status === 'active' && [one.keyId, one.scopes.join(' '), one.ordinal, one.taken],
  );
  const both = 'forum:read monitors';
  expect(facts).toEqual([
    [null, both, 1, 3],
    false,
    [byKey.keyId, 'forum:read', 2, 3],
    false,
    [null, both, 3, 3],
    [byKey.keyId, 'forum:read', 4, 3],
    false,
  ]);
  const used = await at.db.pool.query<{ used: boolean }>(
    'SELECT last_used_at IS NOT NULL AS used FROM api_keys WHERE account_id = $1',
    [account.id],
  );
  expect(used.rows).toEqual([{ used: true }]);
});

async function count(): Promise<number> {
  const { rows } = await at.db.pool.query<{ n: number }>('SELECT count(*) AS n FROM oauth_records');
  return rows[0]!.n;
}
