import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deleteExpiredOAuthRecords } from '../../../shared/stores/accounts/oauth-records.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import {
  allow,
  authorizationUrl,
  exchangeOf,
  newEmail,
  newPkce,
  post,
  publish,
  REDIRECT,
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

/** The status of the page that answers a client's authorization request. */
async function openFor(clientId: string, changes: Record<string, string> = {}): Promise<number> {
  return (await new Browser(at.fetch).open(authorizationUrl(at, clientId, newPkce(), changes))).status;
}

interface Registered {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

async function register(body: unknown, headers: Record<string, string> = {}): Promise<Registered> {
  const response = await at.fetch(`${at.baseUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}

describe('clients that register', () => {
  test('get an id, and a secret on request, which they must then present', async () => {
    const { status, body, headers } = await register({ client_name: 'Old client', redirect_uris: [REDIRECT] });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      client_id: expect.stringMatching(/^ocl_[0-9a-z]{52}$/) as string,
      client_secret: expect.stringMatching(/^ocs_[0-9a-z]{52}$/) as string,
      client_id_issued_at: expect.any(Number) as number,
      client_secret_expires_at: 0,
      client_name: 'Old client',
      redirect_uris: [REDIRECT],
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    });
    const [id, secret] = [String(body.client_id), String(body.client_secret)];
    const pkce = newPkce();
    const callback = await allow(at, authorizationUrl(at, id, pkce), newEmail());
    const { client_id: _id, ...exchange } = exchangeOf(id, pkce, callback);
    const basic = (word: string) => ({ authorization: `Basic ${Buffer.from(`${id}:${word}`).toString('base64')}` });
    expect((await post(at, '/oauth/token', { ...exchange, client_id: id })).body).toMatchObject({
      error: 'invalid_client',
    });
    expect((await post(at, '/oauth/token', exchange, basic('ocs_wrong'))).status).toBe(401);
    expect((await post(at, '/oauth/token', exchange, basic(secret))).status).toBe(200);
  });

  test.each([
    ['nothing', {}, 'invalid_redirect_uri'],
    ['no redirect', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['a redirect over plain http', { redirect_uris: ['http://client.example.test/'] }, 'invalid_redirect_uri'],
    ['a redirect that runs a script', { redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
    ['a list', [], 'invalid_client_metadata'],
    ['text', '"text"', 'invalid_client_metadata'],
    ['broken JSON', '{', 'invalid_client_metadata'],
    [
      'a key of its own',
      { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
    ],
    ['another grant', { redirect_uris: [REDIRECT], grant_types: ['implicit'] }, 'invalid_client_metadata'],
    ['a long name', { redirect_uris: [REDIRECT], client_name: 'x'.repeat(1_001) }, 'invalid_client_metadata'],
    [
      'a body that is too large',
      { redirect_uris: [REDIRECT], software_statement: 'x'.repeat(17_000) },
      'invalid_client_metadata',
    ],
  ])('refuses a registration with %s', async (_what, body, error) => {
    const reply = await register(body);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect(reply.body).toEqual({ error, error_description: expect.any(String) as string });
    expect(reply.body.error_description).not.toMatch(/expected|received|invalid input|too (small|big)/i);
  });

  test('a network can register 60 clients an hour', async () => {
    for (let count = 0; count < 60; count++) expect((await register({ redirect_uris: [REDIRECT] })).status).toBe(201);
    const refused = await register({ redirect_uris: [REDIRECT] });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_500);
    expect(refused.body).toMatchObject({ error: 'temporarily_unavailable' });
    await at.db.setShift('1 hour');
    expect((await register({ redirect_uris: [REDIRECT] })).status).toBe(201);
  });

  test('all networks together can register 500 clients an hour', async () => {
    await at.db.pool.query(
      `INSERT INTO recent_uses (name, times, kept_until)
       SELECT 'oauth:registration:total', array_agg(service_now()), service_now() + interval '1 hour' FROM generate_series(1, 500)`,
    );
    expect((await register({ redirect_uris: [REDIRECT] })).status).toBe(429);
  });

  test('a client that nobody authorised is deleted after a day; one in use stays', async () => {
    const idOf = async () =>
      String((await register({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' })).body.client_id);
    const [unused, used] = [await idOf(), await idOf()];
    const { refresh } = await tokensFor(at, used, newEmail());
    await at.db.setShift('25 hours');
    expect(await deleteExpiredOAuthRecords(at.db.pool, 1_000)).toBeGreaterThan(0);
    expect(await openFor(unused)).toBe(400);
    expect(await openFor(used)).toBe(200);
    const renewed = await post(at, '/oauth/token', {
      grant_type: 'refresh_token',
      client_id: used,
      refresh_token: refresh,
    });
    expect(renewed.status).toBe(200);
  });
});

describe('redirects', () => {
  test.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:50123/callback', 200],
    ['http://127.0.0.1:1234/callback', 'http://127.0.0.1:50123/callback', 200],
    ['http://[::1]/callback', 'http://[::1]:50123/callback', 200],
    ['http://localhost:8000/callback', 'http://localhost:50123/callback', 200],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:50123/other', 400],
    ['http://127.0.0.1/callback', 'http://localhost:50123/callback', 400],
    ['http://127.0.0.1/callback', 'http://127.0.0.1.example.test:50123/callback', 400],
    ['http://127.0.0.1/callback', 'http://a@127.0.0.1:50123/callback', 400],
    ['cursor://plugin/callback', 'cursor://plugin/callback', 200],
    ['cursor://plugin/callback', 'cursor://plugin/callback/more', 400],
    ['https://client.example.test/callback', 'https://client.example.test:8443/callback', 400],
  ])('of a client with %s, %s is answered with %i', async (registered, asked, status) => {
    const id = publish(at, { redirect_uris: [registered] });
    expect(await openFor(id, { redirect_uri: asked })).toBe(status);
  });
});
