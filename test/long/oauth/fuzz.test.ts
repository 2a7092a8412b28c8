import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  authorizationUrl,
  newPkce,
  publish,
  REDIRECT,
  startOAuthInstallation,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;
let client: string;
const pkce = newPkce();

beforeAll(async () => {
  at = await startOAuthInstallation();
  client = publish(at);
});
afterAll(() => at.stop());
beforeEach(() => forgetLimits());

async function forgetLimits(): Promise<void> {
  await at.db.pool.query('DELETE FROM recent_uses');
}

/** Parameter names of the protocols, with valid, meaningless and harmful values. */
const name = fc.constantFrom(
  ...[
    'response_type',
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'nonce',
    'prompt',
    'max_age',
    'claims',
    'resource',
  ],
  ...[
    'request',
    'request_uri',
    'registration',
    'response_mode',
    'code_challenge',
    'code_challenge_method',
    'login_hint',
  ],
  ...[
    'id_token_hint',
    'acr_values',
    'ui_locales',
    'dpop_jkt',
    'authorization_details',
    'display',
    '__proto__',
    'constructor',
  ],
  ...[
    'grant_type',
    'code',
    'code_verifier',
    'refresh_token',
    'client_secret',
    'client_assertion',
    'token',
    'token_type_hint',
  ],
);
const value = fc.oneof(
  fc.constantFrom(
    '',
    'code',
    'none',
    'login',
    'consent',
    'S256',
    'query',
    'forum:read',
    '{}',
    '[]',
    'null',
    '0',
    '-1',
    '%00',
    '\0',
  ),
  fc.constantFrom(
    '{"id_token":{"sub":{"value":"x"}}}',
    'https://a.example.test/',
    'javascript:1',
    '//',
    'refresh_token',
    'authorization_code',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const parameters = fc.array(fc.tuple(name, value), { maxLength: 8 });

test('no authorization request causes a 5xx', async () => {
  const ask = async (changes: [string, string][], areAdded: boolean) => {
    const url = authorizationUrl(at, client, pkce);
    for (const [key, text] of changes) {
      if (areAdded) url.searchParams.append(key, text);
      else url.searchParams.set(key, text);
    }
    const response = await at.fetch(url, { redirect: 'manual', headers: { accept: 'text/html' } });
    await response.body?.cancel();
    expect(response.status).toBeLessThan(500);
    const location = response.headers.get('location') ?? '/oauth/';
    expect(location.startsWith('/oauth/') || location.startsWith(REDIRECT)).toBe(true);
    await forgetLimits();
  };
  await fc.assert(fc.asyncProperty(parameters, fc.boolean(), ask), { numRuns: 300 });
});

test.each(['/oauth/token', '/oauth/revoke'])('no request to %s causes a 5xx', async (path) => {
  const ask = async (given: [string, string][], knowsClient: boolean) => {
    const body = new URLSearchParams(given);
    if (knowsClient) body.set('client_id', client);
    const response = await at.fetch(at.baseUrl + path, { method: 'POST', body });
    expect(response.status).toBeLessThan(500);
    if (response.status >= 400) expect(await response.json()).toHaveProperty('error');
    await forgetLimits();
  };
  await fc.assert(fc.asyncProperty(parameters, fc.boolean(), ask), { numRuns: 200 });
});

test('no registration causes a 5xx, and every registered client works', async () => {
  const metadata = fc.dictionary(
    fc.constantFrom(
      'redirect_uris',
      'client_name',
      'grant_types',
      'response_types',
      'token_endpoint_auth_method',
      'scope',
      'jwks',
    ),
    fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.array(value),
      fc.constant([REDIRECT]),
      fc.constant('none'),
      fc.constant(['code']),
    ),
  );
  let registered = 0;
  const ask = async (body: object, hasRedirect: boolean) => {
    const response = await at.fetch(`${at.baseUrl}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(hasRedirect ? { ...body, redirect_uris: [REDIRECT] } : body),
    });
    const answer = (await response.json()) as { client_id: string; redirect_uris: string[] };
    expect([201, 400]).toContain(response.status);
    if (response.status === 201) {
      registered++;
      const url = authorizationUrl(at, answer.client_id, pkce, { redirect_uri: answer.redirect_uris[0]! });
      const opened = await at.fetch(url, { redirect: 'manual' });
      expect(opened.headers.get('location')).toMatch(/^\/oauth\/interaction\//);
    }
    await forgetLimits();
  };
  await fc.assert(fc.asyncProperty(metadata, fc.boolean(), ask), { numRuns: 200 });
  expect(registered).toBeGreaterThan(10);
});
