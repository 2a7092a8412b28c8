import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '../../support/clients/oauth-browser.ts';
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
  register,
  signIn,
  startOAuthInstallation,
  tokensFor,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

let at: OAuthInstallation;
let client: string;
beforeAll(async () => {
  at = await startOAuthInstallation();
  client = publish(at);
  await tokensFor(at, client, newEmail());
});
afterAll(() => at.stop());
beforeEach(() => at.reset());
/** A client that has just registered. */
const registered = async () =>
  String((await register(at, { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' })).body.client_id);

/** The first answer to the browser, before any person is asked. */
async function refusalAt(url: URL): Promise<{ status: number; error: string | null; html: string }> {
  const page = await new Browser(at.fetch).open(url);
  const said = page.leftTo && new URLSearchParams(page.leftTo.search + page.leftTo.hash.replace('#', '&'));
  return { status: page.status, error: said?.get('error') ?? null, html: page.html };
}

describe('authorization requests', () => {
  const pkce = newPkce();
  const refused: [string, Record<string, string | undefined>, string][] = [
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'PKCE'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'not supported value of code_challenge_method'],
    ['a challenge without its method', { code_challenge_method: undefined }, 'code_challenge_method must be provided'],
    ['another resource', { resource: 'https://other.example.test/mcp' }, 'resource indicator'],
    ['a token at once', { response_type: 'token' }, 'unsupported response_type'],
    ['nobody to be asked', { prompt: 'none' }, 'login is asked for'],
    ['an answer by a form', { response_mode: 'form_post' }, 'unsupported response_mode'],
  ];

  test.each(refused)('%s: a page shows it, also when somebody authorised the client', async (_what, changes, words) => {
    for (const id of [client, publish(at), await registered()]) {
      const refusal = await refusalAt(authorizationUrl(at, id, pkce, changes));
      expect(refusal).toMatchObject({ status: 400, error: null });
      expect(refusal.html).toMatch(new RegExp(`role="alert">[^<]*${words}`));
      expect(refusal.html).not.toContain(REDIRECT);
    }
  });

  test.each([
    ['unknown scopes alone', { scope: 'openid profile' }],
    ['a scope that cannot be one', { scope: 'a"b' }],
    ['what OpenID Connect adds', { scope: 'openid forum:read', nonce: 'n-0S6', prompt: 'select_account' }],
    ['a wish for consent and an account', { prompt: 'select_account consent' }],
    ['a slash after the resource', { resource: `RESOURCE/` }],
  ])('%s: the sign-in goes on, and its token works', async (_what, changes: Record<string, string>) => {
    const { resource } = changes;
    const asked = resource === undefined ? changes : { resource: resource.replace('RESOURCE', at.resource) };
    const callback = await allow(at, authorizationUrl(at, client, pkce, asked), newEmail());
    const exchange = { ...exchangeOf(client, pkce, callback), ...(asked.resource && { resource: asked.resource }) };
    const { status, body } = await post(at, '/oauth/token', exchange);
    expect(status, JSON.stringify(body)).toBe(200);
    expect((await askMcp(at, String(body.access_token))).status).toBe(200);
  });

  test('a client that its own account authorised redirects nobody who has not decided in this browser', async () => {
    const id = await registered();
    await allow(at, authorizationUrl(at, id, pkce), newEmail());
    expect(await refusalAt(authorizationUrl(at, id, pkce, { prompt: 'none' }))).toMatchObject({
      status: 400,
      error: null,
    });
    const browser = new Browser(at.fetch);
    await browser.open(authorizationUrl(at, id, pkce));
    await signIn(at, browser, newEmail());
    const again = await browser.open(authorizationUrl(at, id, pkce, { prompt: 'none' }));
    expect([again.status, again.leftTo]).toEqual([400, undefined]);
  });

  test('a client gets an error after the person allowed it', async () => {
    await at.db.pool.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE 'starting up' USING ERRCODE = 'cannot_connect_now'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON oauth_records FOR EACH ROW WHEN (NEW.model = 'AuthorizationCode')
         EXECUTE FUNCTION refuse()`,
    );
    const failed = await allow(at, authorizationUrl(at, publish(at), pkce), newEmail());
    await at.db.pool.query('DROP FUNCTION refuse CASCADE');
    expect(failed.searchParams.get('error')).toBe('temporarily_unavailable');
  });

  test.each([
    ['another redirect', { redirect_uri: 'https://attacker.example.test/callback' }],
    ['a longer redirect', { redirect_uri: `${REDIRECT}/more` }],
    ['no redirect', { redirect_uri: undefined }],
    ['an unknown client', { client_id: 'ocl_unknown' }],
    ['no client', { client_id: undefined }],
  ])('%s: a page shows it, and nothing is redirected', async (_what, changes) => {
    const refusal = await refusalAt(authorizationUrl(at, client, pkce, changes));
    expect(refusal).toMatchObject({ status: 400, error: null });
    expect(refusal.html).toContain('role="alert"');
  });

  test('unknown scopes beside known ones are dropped; the token answer names its scopes', async () => {
    const own = newPkce();
    const url = authorizationUrl(at, client, own, { scope: 'openid forum:read offline_access', prompt: 'consent' });
    const callback = await allow(at, url, newEmail());
    const reply = await post(at, '/oauth/token', exchangeOf(client, own, callback));
    expect(reply.body).toMatchObject({ scope: 'forum:read' });
    expect(reply.body.id_token).toBeUndefined();
  });
});

describe('the endpoints', () => {
  test.each([
    ['JSON', '{"grant_type":"refresh_token"}', { 'content-type': 'application/json' }],
    ['a password', 'grant_type=password&username=a&password=b&client_id=CLIENT', {}],
    ['a parameter twice', 'grant_type=refresh_token&grant_type=refresh_token&client_id=CLIENT', {}],
    ['two clients', 'grant_type=refresh_token&refresh_token=x&client_id=CLIENT', { authorization: 'Basic YTpi' }],
    ['a malformed header', 'grant_type=refresh_token&refresh_token=x', { authorization: 'Basic %%%' }],
    ['invalid bytes', 'grant_type=%ff%00&client_id=%00', {}],
    ['a body that is too large', `grant_type=refresh_token&client_id=CLIENT&refresh_token=${'x'.repeat(70_000)}`, {}],
  ])('a token request with %s gets an OAuth error', async (_what, body, headers) => {
    const response = await at.fetch(`${at.baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: body.replaceAll('CLIENT', encodeURIComponent(client)),
    });
    expect([400, 401, 413]).toContain(response.status);
    const answer = (await response.json()) as Record<string, unknown>;
    expect(answer).toEqual({ error: expect.any(String) as string, error_description: expect.any(String) as string });
    expect(JSON.stringify(answer)).not.toMatch(/node_modules|at .*:\d+|server_error/);
  });

  test.each([
    ['token', 'POST', 120],
    ['authorize', 'GET', 60],
  ])('a network can send /oauth/%s (%s) %i requests a minute', async (path, method, most) => {
    const ask = () => at.fetch(`${at.baseUrl}/oauth/${path}`, { method, redirect: 'manual' });
    for (let count = 0; count < most; count++) expect((await ask()).status).toBe(400);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    const shown = await at.fetch(`${at.baseUrl}/oauth/${path}`, { method, headers: { accept: 'text/html' } });
    expect([shown.status, await shown.text()]).toEqual([429, expect.stringContaining('role="alert"')]);
    await at.db.setShift('61 seconds');
    expect((await ask()).status).toBe(400);
  });

  test('browser programs may read answers at the origin of their redirect and nowhere else', async () => {
    const ask = async (origin: string) => {
      const reply = await post(
        at,
        '/oauth/token',
        { grant_type: 'refresh_token', client_id: client, refresh_token: 'ort_x' },
        { origin },
      );
      return reply.headers.get('access-control-allow-origin');
    };
    expect(await ask(new URL(REDIRECT).origin)).toBe(new URL(REDIRECT).origin);
    expect(await ask('https://attacker.example.test')).toBeNull();
  });
});

describe('limits', () => {
  /** The state after `most` uses just now. */
  async function useUp(name: string, most: number): Promise<void> {
    await at.db.pool.query(
      `INSERT INTO recent_uses (name, times, kept_until)
     SELECT $1, array_agg(service_now()), service_now() + interval '1 hour' FROM generate_series(1, $2)`,
      [name, most],
    );
  }

  test('a decision that is sent again and again makes 40 grants and mails a day', async () => {
    const email = newEmail();
    const browser = new Browser(at.fetch);
    const { url } = await browser.open(authorizationUrl(at, publish(at), newPkce()));
    await signIn(at, browser, email);
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    // Its redirect, which would end the sign-in, is not followed.
    const allow = () =>
      at.fetch(`${url.href}/decision`, {
        method: 'POST',
        headers: { cookie },
        body: new URLSearchParams({ decision: 'allow' }),
        redirect: 'manual',
      });
    const before = at.smtp.received.length;
    expect((await allow()).status).toBe(303);
    // As after 38 of the day.
    await at.db.pool.query(
      `UPDATE recent_uses SET times = times || array_fill(times[1], ARRAY[37]) WHERE name LIKE 'grants:%'`,
    );
    for (let n = 0; n < 2; n++) expect((await allow()).status).toBe(303);
    const refused = await allow();
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('connect 40 apps a day.')]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
    const { id } = (await findAccount(at.db.pool, email))!;
    const grants = await at.db.pool.query(`SELECT FROM oauth_records WHERE account_id = $1 AND model = 'Grant'`, [id]);
    expect(grants.rowCount).toBe(3);
    await eventually('a mail for each', () => at.smtp.received.length - before === 3);
  });

  describe('the budget of sign-in', () => {
    const askOnPage = async () => {
      const browser = new Browser(at.fetch);
      await browser.open(authorizationUrl(at, publish(at), newPkce()));
      return browser.submit('/address', { email: newEmail() });
    };

    test('is not affected by a flood of sign-ups', async () => {
      await useUp('signup:total', 500);
      await useUp('signup:network:hour:127.0.0.0/24', 20);
      const refused = await at.apis[0].call(undefined, 'POST', '/api/agent/signup', { email: newEmail() });
      expect(refused.status).toBe(429);
      const page = await askOnPage();
      expect([page.status, page.html]).toEqual([200, expect.stringContaining('Enter the code')]);
    });

    test('is limited too, with Retry-After', async () => {
      await useUp('signin:total', 500);
      const page = await askOnPage();
      expect([page.status, page.html]).toEqual([503, expect.stringContaining('Sign-in is busy. Try again later.')]);
      expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(3_500);
      const signUp = await at.apis[0].call(undefined, 'POST', '/api/agent/signup', { email: newEmail() });
      expect(signUp.status).toBe(200);
    });
  });
});

describe('arbitrary requests', () => {
  const pkce = newPkce();
  const forgetLimits = () => at.db.pool.query('DELETE FROM recent_uses');

  /** Parameter names of the protocols, with valid, meaningless and harmful values. */
  const name = fc.constantFrom(
    ...`response_type client_id redirect_uri scope state nonce prompt max_age claims resource request request_uri
  registration response_mode code_challenge code_challenge_method login_hint id_token_hint dpop_jkt grant_type code
  code_verifier refresh_token client_secret client_assertion token token_type_hint __proto__ constructor`.split(/\s+/),
  );

  const value = fc.oneof(
    fc.constantFrom(...'code none login consent S256 query forum:read {} [] null 0 -1 %00 // javascript:1'.split(' ')),
    fc.constantFrom('', '\0', '{"id_token":{"sub":{"value":"x"}}}', 'https://a.example.test/', 'refresh_token'),
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
    await fc.assert(fc.asyncProperty(parameters, fc.boolean(), ask), { numRuns: 100 });
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
    await fc.assert(fc.asyncProperty(parameters, fc.boolean(), ask), { numRuns: 60 });
  });

  test('no registration causes a 5xx, and every registered client works', async () => {
    const metadata = fc.dictionary(
      fc.constantFrom(
        ...'redirect_uris client_name grant_types response_types token_endpoint_auth_method scope jwks'.split(' '),
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
      const reply = await register(at, hasRedirect ? { ...body, redirect_uris: [REDIRECT] } : body);
      const answer = reply.body as { client_id: string; redirect_uris: string[] };
      expect([201, 400]).toContain(reply.status);
      if (reply.status === 201) {
        registered++;
        const url = authorizationUrl(at, answer.client_id, pkce, { redirect_uri: answer.redirect_uris[0]! });
        const opened = await at.fetch(url, { redirect: 'manual' });
        expect(opened.headers.get('location')).toMatch(/^\/oauth\/interaction\//);
      }
      await forgetLimits();
    };
    await fc.assert(fc.asyncProperty(metadata, fc.boolean(), ask), { numRuns: 60 });
    expect(registered).toBeGreaterThan(3);
  });
});
