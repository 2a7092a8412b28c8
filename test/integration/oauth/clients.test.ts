import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomText } from '../../../shared/domain/identifiers.ts';
import { createFindDocument } from '../../../services/api/oauth/client-documents.ts';
import type { FindDocument } from '../../../services/api/oauth/client-documents.ts';
import { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';
import type { EgressClient } from '../../../shared/http/egress-client.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import {
  authorizationUrl,
  newEmail,
  newPkce,
  post,
  publish,
  REDIRECT,
  startOAuthInstallation,
  tokensFor,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation, Site } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;

beforeAll(async () => {
  at = await startOAuthInstallation();
});
afterAll(() => at.stop());
beforeEach(() => at.reset());

/** Status and problem of the page that answers a client's authorization request. */
async function openFor(clientId: string, changes: Record<string, string> = {}): Promise<[number, string | undefined]> {
  const { status, html } = await new Browser(at.fetch).open(authorizationUrl(at, clientId, newPkce(), changes));
  return [status, /<p id="problem" role="alert">([^<]*)<\/p>/.exec(html)?.[1]];
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
    ['has no redirect', { redirect_uris: [] }, 'redirect_uris'],
    [
      'has too many redirects',
      { redirect_uris: Array.from({ length: 11 }, (_, n) => `${REDIRECT}/${n}`) },
      'redirect_uris',
    ],
    ['has a redirect over plain http', { redirect_uris: ['http://client.example.test/callback'] }, 'redirect_uris'],
    ['has a redirect that runs a script', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris'],
    ['has a redirect with a fragment', { redirect_uris: [`${REDIRECT}#x`] }, 'redirect_uris'],
    ['has a redirect with a password', { redirect_uris: ['https://a:b@client.example.test/'] }, 'redirect_uris'],
    ['has a secret', { client_secret: 'secret' }, 'client_secret'],
    ['requires a secret', { token_endpoint_auth_method: 'client_secret_post' }, 'token_endpoint_auth_method'],
    ['requires other grants', { grant_types: ['client_credentials'] }, 'grant_types'],
    ['requires other response types', { response_types: ['token'] }, 'response_types'],
  ])('refuses a document that %s, and says so', async (_what, changes, named) => {
    const [status, problem] = await openFor(publish(at, changes));
    expect(status).toBe(400);
    expect(problem).toContain(named);
  });

  test.each<[string, Site]>([
    ['invalid JSON', () => ({ body: '<html>' })],
    ['a list', () => ({ body: '[]' })],
    ['null', () => ({ body: 'null' })],
    ['a redirect to another site', () => ({ status: 302, body: '', headers: { location: 'https://a.example.test/' } })],
    ['404', () => ({ status: 404, body: '{}' })],
    ['trouble', () => ({ status: 500, body: '{}' })],
    ['more than 64 KiB', (url) => ({ body: document(url.href, { padding: 'x'.repeat(70_000) }) })],
  ])('shows a page when the site answers with %s', async (_what, site) => {
    const [status, problem] = await openFor(siteOf(site));
    expect(status).toBe(400);
    expect(problem).toMatch(/client_id/);
  });

  test.each([
    ['https://client.example.test', 'must be written https://client.example.test/'],
    ['https://client.example.test/', 'must have a path'],
    ['https://client.example.test/a#b', 'must have a path and no fragment'],
    ['https://client.example.test/a/../b', 'must be written https://client.example.test/b'],
    ['HTTPS://client.example.test/a', 'must be written https://client.example.test/a'],
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
    const refresh = (token: string) =>
      post(at, '/oauth/token', { grant_type: 'refresh_token', client_id: id, refresh_token: token });
    // A fetch in the meantime does not shorten its retention.
    await at.db.setShift('2 hours');
    expect((await openFor(id))[0]).toBe(200);
    await at.db.setShift('20 days');
    status = 503;
    at.asked.clear();
    // One by each process.
    for (const token of [first.refresh, other.refresh]) expect((await refresh(token)).status).toBe(200);
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
    expect((await openFor(unknown))[1]).toContain('too many new programs');
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
    expect(answers[ids.indexOf(refused)]).toContain('too many new programs come now from this network');
    expect(at.asked.get(refused)).toBeUndefined();
    const known = ids[answers.indexOf('found')]!;
    for (let each = 0; each < 50; each++) expect(await ask(finds[0], known, '192.0.2.1')).toBe('found');
    expect(await ask(finds[0], refused, '198.51.100.1')).toBe('found');
    // An old copy is valid while no new one can be fetched.
    await at.db.setShift('61 minutes');
    const [spent] = await Promise.all(
      Array.from({ length: 31 }, (_, each) =>
        ask(
          finds[each % 2]!,
          siteOf((url) => ({ body: document(url.href) })),
          '192.0.2.1',
        ),
      ),
    );
    expect(spent).toBeDefined();
    at.asked.clear();
    expect(await ask(finds[0], known, '192.0.2.1')).toBe('found');
    expect(at.asked.get(known)).toBeUndefined();
    const { rows } = await at.db.pool.query<{ uses: number }>(
      "SELECT cardinality(times) AS uses FROM recent_uses WHERE name = 'oauth:documents:total'",
    );
    expect(rows[0]!.uses).toBe(61);
  });

  test('a request that waits for the fetch of a network at its limit fetches by itself', async () => {
    await at.db.pool.query(
      `INSERT INTO recent_uses (name, times, kept_until)
       SELECT 'oauth:documents:192.0.2.0/24', array_agg(service_now()), service_now() + interval '1 hour'
       FROM generate_series(1, 30)`,
    );
    const find = newFind();
    // Either may ask the site first.
    for (let round = 0; round < 20; round++) {
      const id = siteOf((url) => ({ body: document(url.href) }));
      const [, other] = await Promise.allSettled([find(id, '192.0.2.1'), find(id, '198.51.100.1')]);
      expect(other.status).toBe('fulfilled');
      expect(at.asked.get(id)).toBe(1);
    }
  });

  test('a client ends with its document', async () => {
    let status = 200;
    const id = siteOf((url) => ({ status, body: document(url.href) }));
    const { refresh } = await tokensFor(at, id, newEmail());
    await at.db.setShift('2 hours');
    status = 410;
    const reply = await post(at, '/oauth/token', {
      grant_type: 'refresh_token',
      client_id: id,
      refresh_token: refresh,
    });
    expect(reply.body).toMatchObject({ error: 'invalid_client' });
  });

  test('a failure is not retried at once', async () => {
    const id = siteOf(() => ({ status: 500, body: '' }));
    for (let count = 0; count < 6; count++) expect((await openFor(id))[0]).toBe(400);
    // Once by each process.
    expect(at.asked.get(id)).toBe(2);
  });

  test('concurrent requests fetch a document once', async () => {
    let finds = 0;
    class CountingRecords extends SealedRecords {
      override async find(model: string, id: string) {
        const found = await super.find(model, id);
        finds++;
        return found;
      }
    }
    const id = siteOf((url) => ({ body: document(url.href) }));
    let sent = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const egress: EgressClient = {
      async send() {
        sent++;
        await released;
        return { error: null, status: 200, retryAfterMs: undefined, bodyExcerpt: document(id) };
      },
      close: () => Promise.resolve(),
    };
    const records = new CountingRecords(at.db.pool, at.apis[0].secretBox);
    const find = createFindDocument({ egress, allowPrivate: false, records, pool: at.db.pool });
    const found = Promise.all(Array.from({ length: 10 }, () => find(id, '192.0.2.1')));
    await eventually('all have looked for a copy', () => finds === 10);
    release();
    expect(await found).toHaveLength(10);
    expect(sent).toBe(1);
    await find(id, '192.0.2.1');
    expect(sent).toBe(1);
  });
});
