import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { createFindDocument } from '../../../services/api/oauth/client-documents.ts';
import type { FindDocument } from '../../../services/api/oauth/client-documents.ts';
import { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import { Browser, problemOn } from '../../support/clients/oauth-browser.ts';
import {
  authorizationUrl,
  newEmail,
  newPkce,
  post,
  publish,
  REDIRECT,
  refreshTokens,
  register,
  startOAuthInstallation,
  tokensFor,
  allow,
  exchangeOf,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation, Site } from '../../support/fixtures/oauth-installation.ts';
import { deleteExpired } from '../../../shared/maintenance/retention.ts';

let at: OAuthInstallation;
beforeAll(async () => {
  at = await startOAuthInstallation();
});
afterAll(() => at.stop());
beforeEach(() => at.reset());
/** Status and problem of the page that answers a client's authorization request. */
async function openFor(clientId: string, changes: Record<string, string> = {}): Promise<[number, string | undefined]> {
  const page = await new Browser(at.fetch).open(authorizationUrl(at, clientId, newPkce(), changes));
  return [page.status, problemOn(page)];
}

describe('clients with a metadata document', () => {
  const siteOf = (site: Site): string => {
    const host = `${randomText(8)}.example.test`;
    at.sites.set(host, site);
    return `https://${host}/client.json`;
  };
  /** Finds documents as another process would. */
  const newFind = (): FindDocument =>
    createFindDocument({
      egress: at.egress,
      allowPrivate: false,
      records: new SealedRecords(at.db.pool, at.apis[0].secretBox),
      pool: at.db.pool,
    });
  const document = (id: string, changes: object = {}) =>
    JSON.stringify({ client_id: id, redirect_uris: [REDIRECT], ...changes });

  test.each<[string, Record<string, unknown>, string]>([
    ['names another client', { client_id: 'https://other.example.test/client.json' }, 'another client_id'],
    [
      'has too many redirects',
      { redirect_uris: Array.from({ length: 11 }, (_, n) => `${REDIRECT}/${n}`) },
      'redirect_uris',
    ],
    ['has a redirect over plain http', { redirect_uris: ['http://client.example.test/callback'] }, 'redirect_uris'],
    ['has a redirect that runs a script', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris'],
    ['has a redirect with a password', { redirect_uris: ['https://a:b@client.example.test/'] }, 'redirect_uris'],
    ['has a secret', { client_secret: 'secret' }, 'client_secret'],
    ['requires a secret', { token_endpoint_auth_method: 'client_secret_post' }, 'token_endpoint_auth_method'],
    ['requires other grants', { grant_types: ['client_credentials'] }, 'grant_types'],
  ])('refuses a document that %s, and says so', async (_what, changes, named) => {
    const [status, problem] = await openFor(publish(at, changes));
    expect(status).toBe(400);
    expect(problem).toContain(named);
  });

  test.each<[string, Site]>([
    ['invalid JSON', () => ({ body: '<html>' })],
    ['a redirect to another site', () => ({ status: 302, body: '', headers: { location: 'https://a.example.test/' } })],
    ['404', () => ({ status: 404, body: '{}' })],
    ['more than 64 KiB', (url) => ({ body: document(url.href, { padding: 'x'.repeat(70_000) }) })],
  ])('shows a page when the site answers with %s', async (_what, site) => {
    const [status, problem] = await openFor(siteOf(site));
    expect(status).toBe(400);
    expect(problem).toMatch(/client_id/);
  });

  test.each([
    ['https://client.example.test', 'must be written as https://client.example.test/'],
    ['https://client.example.test/a#b', 'must have a path and no fragment'],
    ['https://client.example.test/a/../b', 'must be written as https://client.example.test/b'],
    ['https://a:b@client.example.test/a', 'must be a public https URL'],
    [`https://client.example.test/${'a'.repeat(500)}`, 'too long'],
  ])('%s is not a client id', async (id, said) => {
    const [status, problem] = await openFor(id);
    expect(status).toBe(400);
    expect(problem).toContain(said);
  });

  test('a document is fetched once an hour for all processes, which then see its changes', async () => {
    let name = 'First';
    const id = siteOf((url) => ({ body: document(url.href, { client_name: name }) }));
    const shown = async () => (await new Browser(at.fetch).open(authorizationUrl(at, id, newPkce()))).html;
    expect(await shown()).toContain('First');
    name = 'Second';
    expect(await shown()).toContain('First');
    expect(at.asked.get(id)).toBe(1);
    await at.db.setShift('61 minutes');
    expect(await shown()).toContain('Second');
    expect(at.asked.get(id)).toBe(2);
  });

  test('while its site is unreachable a client keeps working', async () => {
    let status = 200;
    const id = siteOf((url) => ({ status, body: document(url.href) }));
    const [first, other] = [await tokensFor(at, id, newEmail()), await tokensFor(at, id, newEmail())];
    // A fetch in the meantime does not shorten its retention.
    await at.db.setShift('2 hours');
    expect((await openFor(id))[0]).toBe(200);
    await at.db.setShift('20 days');
    status = 503;
    at.asked.clear();
    // One by each process.
    for (const token of [first.refresh, other.refresh]) expect((await refreshTokens(at, id, token)).status).toBe(200);
    expect(at.asked.get(id)).toBe(2);
  });

  test('beyond 1,000 new documents an hour, only known ones are valid', async () => {
    const known = siteOf((url) => ({ body: document(url.href) }));
    expect((await openFor(known))[0]).toBe(200);
    await at.db.pool.query(
      `INSERT INTO recent_uses (name, times, kept_until)
       SELECT 'oauth:documents:total', array_agg(service_now()), service_now() + interval '1 hour' FROM generate_series(1, 1000)
       ON CONFLICT (name) DO UPDATE SET times = excluded.times`,
    );
    expect((await openFor(known))[0]).toBe(200);
    const unknown = siteOf((url) => ({ body: document(url.href) }));
    expect((await openFor(unknown))[1]).toContain('too many new apps');
    expect(at.asked.get(unknown)).toBeUndefined();
  });

  test('a network has 30 fetches an hour; copies are free, and other networks and known clients continue', async () => {
    const ask = (find: FindDocument, id: string, address: string) =>
      find(id, address).then(
        () => 'found',
        (error: unknown) => (error as { error_description?: string }).error_description,
      );
    const finds = [newFind(), newFind()] as const;
    const ids = Array.from({ length: 40 }, () => siteOf((url) => ({ body: document(url.href) })));
    const answers = await Promise.all(ids.map((id, each) => ask(finds[each % 2]!, id, '192.0.2.1')));
    expect(answers.filter((answer) => answer === 'found')).toHaveLength(30);
    const refused = ids[answers.findIndex((answer) => answer !== 'found')]!;
    expect(answers[ids.indexOf(refused)]).toContain('too many new apps are connecting from this network');
    expect(at.asked.get(refused)).toBeUndefined();
    const known = ids[answers.indexOf('found')]!;
    for (let each = 0; each < 50; each++) expect(await ask(finds[0], known, '192.0.2.1')).toBe('found');
    expect(await ask(finds[0], refused, '198.51.100.1')).toBe('found');
  });

  test('a client ends with its document', async () => {
    let status = 200;
    const id = siteOf((url) => ({ status, body: document(url.href) }));
    const { refresh } = await tokensFor(at, id, newEmail());
    await at.db.setShift('2 hours');
    status = 410;
    expect((await refreshTokens(at, id, refresh)).body).toMatchObject({ error: 'invalid_client' });
  });
});

describe('registration', () => {
  describe('clients that register', () => {
    test('get an id, and a secret on request, which they must then present', async () => {
      const { status, body, headers } = await register(at, { client_name: 'Old client', redirect_uris: [REDIRECT] });
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
      const nulls = { client_name: null, grant_types: null, response_types: null, token_endpoint_auth_method: null };
      expect((await register(at, { ...nulls, redirect_uris: [REDIRECT] })).status).toBe(201);
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
      ['a redirect over plain http', { redirect_uris: ['http://client.example.test/'] }, 'invalid_redirect_uri'],
      ['a redirect that runs a script', { redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
      ["a scheme that is nobody's", { redirect_uris: ['intent://x'] }, 'invalid_redirect_uri'],
      ['broken JSON', '{', 'invalid_client_metadata'],
      ['another grant', { redirect_uris: [REDIRECT], grant_types: ['implicit'] }, 'invalid_client_metadata'],
      [
        'a key of its own',
        { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'private_key_jwt' },
        'invalid_client_metadata',
      ],
      [
        'a body that is too large',
        { redirect_uris: [REDIRECT], software_statement: 'x'.repeat(17_000) },
        'invalid_client_metadata',
      ],
    ])('refuses a registration with %s', async (_what, body, error) => {
      const reply = await register(at, body);
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.status).toBeLessThan(500);
      expect(reply.body).toEqual({ error, error_description: expect.any(String) as string });
      expect(reply.body.error_description).not.toMatch(/expected|received|invalid input|too (small|big)/i);
    });

    test('a network can register 60 clients an hour', async () => {
      for (let count = 0; count < 60; count++)
        expect((await register(at, { redirect_uris: [REDIRECT] })).status).toBe(201);
      const refused = await register(at, { redirect_uris: [REDIRECT] });
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_500);
      expect(refused.body).toMatchObject({ error: 'temporarily_unavailable' });
      await at.db.setShift('1 hour');
      expect((await register(at, { redirect_uris: [REDIRECT] })).status).toBe(201);
    });

    test('a client that nobody authorised is deleted after a day; one in use stays', async () => {
      const idOf = async () =>
        String((await register(at, { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' })).body.client_id);
      const [unused, used] = [await idOf(), await idOf()];
      const { refresh } = await tokensFor(at, used, newEmail());
      await at.db.setShift('25 hours');
      expect(await deleteExpired(at.db.pool, 'oauth_records', 1_000)).toBeGreaterThan(0);
      expect((await openFor(unused))[0]).toBe(400);
      expect((await openFor(used))[0]).toBe(200);
      expect((await refreshTokens(at, used, refresh)).status).toBe(200);
    });
  });

  describe('redirects', () => {
    test.each([
      ['http://127.0.0.1/callback', 'http://127.0.0.1:50123/callback', 200],
      ['http://[::1]/callback', 'http://[::1]:50123/callback', 200],
      ['http://localhost:8000/callback', 'http://localhost:50123/callback', 200],
      ['http://127.0.0.1/callback', 'http://127.0.0.1:50123/other', 400],
      ['http://127.0.0.1/callback', 'http://localhost:50123/callback', 400],
      ['http://127.0.0.1/callback', 'http://127.0.0.1.example.test:50123/callback', 400],
      ['http://127.0.0.1/callback', 'http://a@127.0.0.1:50123/callback', 400],
      ['cursor://plugin/callback', 'cursor://plugin/callback', 200],
      ['com.example.app:/callback', 'com.example.app:/callback', 200],
      ['cursor://plugin/callback', 'cursor://plugin/callback/more', 400],
      ['https://client.example.test/callback', 'https://client.example.test:8443/callback', 400],
    ])('of a client with %s, %s is answered with %i', async (registered, asked, status) => {
      const id = publish(at, { redirect_uris: [registered] });
      expect((await openFor(id, { redirect_uri: asked }))[0]).toBe(status);
    });
  });
});
