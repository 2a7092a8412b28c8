import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '../../support/clients/oauth-browser.ts';
import type { SeenPage } from '../../support/clients/oauth-browser.ts';
import {
  authorizationUrl,
  newEmail,
  newPkce,
  publish,
  REDIRECT,
  signIn,
  startOAuthInstallation,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';

let at: OAuthInstallation;
let client: string;

beforeAll(async () => {
  at = await startOAuthInstallation();
  client = publish(at);
});
afterAll(() => at.stop());
beforeEach(() => at.reset());

/** A browser on the first page of a sign-in. */
async function begin(): Promise<[Browser, SeenPage]> {
  const browser = new Browser(at.fetch);
  return [browser, await browser.open(authorizationUrl(at, client, newPkce()))];
}

describe('other sites', () => {
  test.each([
    ['from another origin', { origin: 'https://attacker.example.test' }],
    ['from nowhere', { origin: 'null' }],
    ['that the browser calls foreign', { 'sec-fetch-site': 'cross-site' }],
  ])('a form %s authorises nothing, even with the cookie', async (_what, headers) => {
    const [browser] = await begin();
    await signIn(at, browser, newEmail());
    const page = await browser.submit('/decision', { decision: 'allow' }, headers);
    expect([page.status, page.leftTo]).toEqual([400, undefined]);
  });

  test('addresses in headers of a client have no effect', async () => {
    const browser = new Browser(at.fetch);
    const host = 'attacker.example.test';
    const headers = { 'x-forwarded-host': host, 'x-forwarded-proto': 'https', forwarded: `host=${host}` };
    await browser.open(authorizationUrl(at, client, newPkce()), headers);
    await signIn(at, browser, newEmail());
    const { leftTo } = await browser.submit('/decision', { decision: 'allow' }, headers);
    expect(leftTo!.href.startsWith(REDIRECT)).toBe(true);
  });

  test('the window that a client opened keeps its opener at every step', async () => {
    const responses: Response[] = [];
    const browser = new Browser(async (url, init) => {
      const response = await at.fetch(url, init);
      responses.push(response);
      return response;
    });
    await browser.open(authorizationUrl(at, client, newPkce()));
    await signIn(at, browser, newEmail());
    await browser.submit('/decision', { decision: 'allow' });
    expect(responses.length).toBeGreaterThan(6);
    for (const { headers } of responses) expect(headers.get('cross-origin-opener-policy')).toBeNull();
    expect((await at.fetch(`${at.baseUrl}/healthz`)).headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });

  test('without the cookie of the sign-in, its forms have no effect', async () => {
    const [browser] = await begin();
    await signIn(at, browser, newEmail());
    browser.cookies = [];
    const page = await browser.submit('/decision', { decision: 'allow' });
    expect([page.status, page.leftTo]).toEqual([400, undefined]);
  });

  test('the cookie of one sign-in opens no other, and a forged one opens none', async () => {
    const [browser, page] = await begin();
    const [other] = await begin();
    const foreign = other.cookies.filter(({ name }) => name.startsWith('oauth_interaction'));
    browser.cookies = foreign.map((cookie) => ({ ...cookie, path: page.url.pathname }));
    expect((await browser.open(page.url)).status).toBe(400);
    const uid = page.url.pathname.split('/').at(-1)!;
    browser.cookies = [{ name: 'oauth_interaction', value: uid, path: '/' }];
    expect((await browser.open(page.url)).status).toBe(400);
  });

  test('behind https, cookies are secure and all addresses are the public ones', async () => {
    const secure = await startTestApi(at.db.pool, {
      baseUrl: 'https://forum.example.test/base',
      egress: { send: () => Promise.reject(new Error('no way out')), close: () => Promise.resolve() },
    });
    try {
      const path = authorizationUrl(at, client, newPkce(), { resource: 'https://forum.example.test/base/mcp' }).search;
      const response = await fetch(`${secure.url}/oauth/authorize${path}`, {
        redirect: 'manual',
        headers: { 'x-forwarded-host': 'attacker.example.test', 'x-forwarded-proto': 'http' },
      });
      expect(response.headers.get('location')).toMatch(/^\/base\/oauth\/interaction\/[\w-]+$/);
      const cookies = response.headers.getSetCookie();
      expect(cookies.length).toBeGreaterThan(1);
      for (const cookie of cookies) expect(cookie).toMatch(/; ?path=\/base\/oauth\/.*; ?secure/i);
      expect(cookies.join()).not.toContain('attacker');
    } finally {
      await secure.stop();
    }
  });

  test('are not readable by scripts and not sent by other sites', async () => {
    const [browser] = await begin();
    expect(browser.setCookies.length).toBeGreaterThan(1);
    for (const cookie of browser.setCookies) {
      expect(cookie).toMatch(/; ?httponly/i);
      expect(cookie).toMatch(/; ?samesite=lax/i);
      expect(cookie).toMatch(/; ?path=\/oauth/i);
    }
  });
});
