import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeAddress, findAccount, openAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { freezeAccount } from '../../../shared/accounts/close-account.ts';
import { Browser, problemOn, titleOf } from '../../support/clients/oauth-browser.ts';
import type { SeenPage } from '../../support/clients/oauth-browser.ts';
import { codeIn } from '../../support/fakes/smtp-mail.ts';
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
async function begin(clientId = client, changes: Record<string, string> = {}): Promise<[Browser, SeenPage]> {
  const browser = new Browser(at.fetch);
  return [browser, await browser.open(authorizationUrl(at, clientId, newPkce(), changes))];
}

/** The rules for every page: nothing from elsewhere, no scripts. */
function expectPlain(page: SeenPage): void {
  const { html, headers } = page;
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  const policy = headers.get('content-security-policy')!;
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'self'[^;]*; frame-ancestors 'none'$/,
  );
  expect(html).not.toMatch(/<script|javascript:| on[a-z]+=|<link|<img|<iframe|@import|url\(/i);
}

describe('a complete sign-in', () => {
  test('asks for the address, the code and the consent on plain pages', async () => {
    const email = newEmail();
    const [browser, first] = await begin();
    expect([first.status, titleOf(first)]).toEqual([200, 'Sign in']);
    expectPlain(first);
    const second = await browser.submit('/address', { email });
    expect([second.status, titleOf(second)]).toEqual([200, 'Enter the code']);
    expectPlain(second);
    const mail = at.smtp.mailTo(email);
    expect(mail.headers.get('subject')).toEqual(['Your sign-in code']);
    const code = codeIn(mail);
    const third = await browser.submit('/code', { code: `${code.slice(0, 3)} ${code.slice(3)}` });
    expect([third.status, titleOf(third)]).toEqual([200, 'Allow this app?']);
    expectPlain(third);
    for (const told of [new URL(client).host, 'client.example.test', email]) expect(third.html).toContain(told);
    // Reading a page again changes nothing.
    expect((await browser.open(third.url)).html).toBe(third.html);
    const { leftTo } = await browser.submit('/decision', { decision: 'allow' });
    expect(leftTo!.href.startsWith(`${REDIRECT}?`)).toBe(true);
    expect(leftTo!.searchParams.get('code')).toMatch(/^oac_/);
    const notice = at.smtp.mailTo(email);
    expect(notice.headers.get('subject')).toEqual(['An app was connected to your account']);
    expect(notice.text).toMatch(/^https?:\/\/\S+\/dashboard\/programs$/m);
  });

  test('opens an account for a new mailbox like sign-up, without a key, and admits a known one', async () => {
    const email = newEmail();
    const enter = async () => {
      const [browser] = await begin();
      expect(titleOf(await signIn(at, browser, email))).toBe('Allow this app?');
    };
    await enter();
    const account = (await findAccount(at.db.pool, email))!;
    expect(account).toMatchObject({ email, balance: 200, status: 'active' });
    await enter();
    expect((await findAccount(at.db.pool, email))!.id).toBe(account.id);
    const keys = await at.db.pool.query('SELECT FROM api_keys WHERE account_id = $1', [account.id]);
    expect(keys.rowCount).toBe(0);
    const ledger = await at.db.pool.query('SELECT FROM ledger_entries WHERE account_id = $1', [account.id]);
    expect(ledger.rowCount).toBe(1);
  });

  test('the page for the code looks the same with and without an account', async () => {
    const [known, unknown] = [newEmail(), newEmail()];
    await openAccount(at.db.pool, { email: known, credits: 0, pack: 0, keyName: 'x' });
    const pages = [];
    for (const email of [known, unknown]) {
      const [browser] = await begin();
      const page = await browser.submit('/address', { email });
      pages.push(page.html.replaceAll(email, 'EMAIL').replace(/interaction\/[\w-]+/g, 'interaction/UID'));
    }
    expect(pages[0]).toBe(pages[1]);
  });

  test('a denial sends the client an error and grants nothing', async () => {
    const email = newEmail();
    const [browser] = await begin();
    await signIn(at, browser, email);
    const { leftTo } = await browser.submit('/decision', { decision: 'deny' });
    expect(Object.fromEntries(leftTo!.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a state',
      iss: at.baseUrl,
    });
    const account = (await findAccount(at.db.pool, email))!;
    const grants = await at.db.pool.query('SELECT FROM oauth_records WHERE account_id = $1', [account.id]);
    expect(grants.rowCount).toBe(0);
  });

  test('nobody stays signed in: the next client asks again in the same browser', async () => {
    const [browser] = await begin();
    await signIn(at, browser, newEmail());
    await browser.submit('/decision', { decision: 'allow' });
    const page = await browser.open(authorizationUrl(at, client, newPkce()));
    expect(titleOf(page)).toBe('Sign in');
    await signIn(at, browser, newEmail());
    expect((await browser.submit('/decision', { decision: 'allow' })).leftTo!.searchParams.get('code')).toMatch(
      /^oac_/,
    );
  });

  test.each([
    ['https', REDIRECT, "form-action 'self' https:"],
    ['this machine', 'http://127.0.0.1:4711/callback', "form-action 'self' http://127.0.0.1:4711"],
    ['this machine by IPv6', 'http://[::1]:4711/callback', "form-action 'self' http:"],
    ['a program', 'com.example.notebook:/callback', "form-action 'self' com.example.notebook:"],
  ])('the consent page lets its form lead to %s', async (_what, redirect, directive) => {
    const id = publish(at, { redirect_uris: [redirect] });
    const [browser] = await begin(id, { redirect_uri: redirect });
    const page = await signIn(at, browser, newEmail());
    expect(page.headers.get('content-security-policy')).toContain(`; ${directive};`);
    expect((await browser.submit('/decision', { decision: 'allow' })).leftTo!.href.startsWith(redirect)).toBe(true);
  });
});

test('what looks like a host in the address of a program is shown to nobody', async () => {
  const redirect = 'com.evil.app://accounts.example.com/cb';
  const [browser] = await begin(publish(at, { redirect_uris: [redirect] }), { redirect_uri: redirect });
  const { html } = await signIn(at, browser, newEmail());
  expect(html).toContain('sent to <strong>an app on this device (com.evil.app:)</strong>');
  expect(html).not.toContain('accounts.example.com');
});

describe('problems', () => {
  test.each([
    ['', 'The address is not a valid e-mail address.'],
    ['nobody"><script>', 'The address is not a valid e-mail address.'],
    ['a@mailinator.com', 'The address temporary inboxes are not accepted.'],
  ])('the page refuses the address %j', async (email, problem) => {
    const [browser] = await begin();
    const page = await browser.submit('/address', { email });
    expect([page.status, titleOf(page), problemOn(page)]).toEqual([400, 'Sign in', problem]);
    expect(page.html).toContain(`value="${email.replace('"><script>', '&quot;&gt;&lt;script&gt;')}"`);
    expectPlain(page);
  });

  test('an account frozen or deleted during its sign-in authorises nothing', async () => {
    const email = newEmail();
    const [browser] = await begin();
    await signIn(at, browser, email);
    await freezeAccount(at.db.pool, (await findAccount(at.db.pool, email))!.id);
    const page = await browser.submit('/decision', { decision: 'allow' });
    expect([page.leftTo, titleOf(page), problemOn(page)]).toEqual([
      undefined,
      'Sign in',
      'This account is frozen. Contact the operator of the service.',
    ]);
  });

  test('another spelling of the mailbox cannot sign in: elsewhere it may belong to another person', async () => {
    const email = newEmail();
    await openAccount(at.db.pool, { email, credits: 0, pack: 0, keyName: 'x' });
    const [browser] = await begin();
    const page = await signIn(at, browser, email.replace('@', '+tag@'));
    expect(problemOn(page)).toContain('a different spelling');
    expect(titleOf(await browser.open(page.url))).toBe('Sign in');
    expect(titleOf(await signIn(at, browser, email.toUpperCase().replace('EXAMPLE.COM', 'example.com')))).toBe(
      'Allow this app?',
    );
  });

  test('a sign-in that has ended or never existed asks to start again', async () => {
    const [browser, page] = await begin();
    await at.db.setShift('21 minutes');
    const old = await browser.open(page.url);
    expect([old.status, problemOn(old)]).toEqual([400, 'This sign-in has expired, or was started in another browser.']);
    expectPlain(old);
    await at.db.setShift('0');
    await signIn(at, browser, newEmail()).catch(() => undefined);
    const stranger = new Browser(at.fetch);
    const foreign = await stranger.open(page.url);
    expect(foreign.status).toBe(400);
    expectPlain(foreign);
    expect((await stranger.open(`${at.baseUrl}/oauth/authorize/${page.url.pathname.split('/').at(-1)!}`)).status).toBe(
      400,
    );
  });

  test('a text of a client is shown as text', async () => {
    const name = `<script>alert(1)</script>"'><img src=x>`;
    const id = publish(at, { client_name: name });
    const [browser, first] = await begin(id);
    for (const page of [first, await signIn(at, browser, newEmail())]) {
      expect(page.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img src=x&gt;');
      expectPlain(page);
    }
    const refused = await new Browser(at.fetch).open(
      authorizationUrl(at, '<script>', newPkce(), { redirect_uri: '"><script>' }),
    );
    expectPlain(refused);
    const odd = await new Browser(at.fetch).open(`${at.baseUrl}/oauth/interaction/%3Cscript%3E`);
    expect(odd.status).toBe(400);
    expectPlain(odd);
  });
});

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
      const path = authorizationUrl(at, client, newPkce(), {
        resource: 'https://forum.example.test/base/mcp',
      }).search;
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

describe('an address changed during the sign-in', () => {
  const over = ['Sign in', 'The code is no longer valid. Request a new one.'];

  /** Changes the address as its owner does. */
  async function move({ id, email }: StoredAccount): Promise<string> {
    const newAddress = newEmail();
    const change = { accountId: id, oldEmail: email, newEmail: newAddress, newMailbox: newAddress };
    expect(await changeAddress(at.db.pool, { ...change, mailboxHashes: [], keptSessionId: '' })).toBe('changed');
    return newAddress;
  }

  async function grantsOf({ id }: StoredAccount): Promise<number | null> {
    const { rowCount } = await at.db.pool.query(`SELECT FROM oauth_records WHERE account_id = $1 AND model = 'Grant'`, [
      id,
    ]);
    return rowCount;
  }

  test('a sign-in by the earlier address authorises nothing, and does not show the new one', async () => {
    const email = newEmail();
    const [[deciding], [reading]] = [await begin(), await begin()];
    await signIn(at, deciding, email);
    const { url } = await signIn(at, reading, email);
    const account = (await findAccount(at.db.pool, email))!;
    const newAddress = await move(account);
    const decided = await deciding.submit('/decision', { decision: 'allow' });
    expect([decided.leftTo, titleOf(decided), problemOn(decided)]).toEqual([undefined, ...over]);
    const read = await reading.open(url);
    expect([read.status, titleOf(read), problemOn(read)]).toEqual([400, ...over]);
    expect(read.html).not.toContain(newAddress);
    expect(await grantsOf(account)).toBe(0);
    expect(titleOf(await signIn(at, deciding, newAddress))).toBe('Allow this app?');
  });

  test('a change of the address while the grant is stored leaves no grant', async () => {
    const email = newEmail();
    const [browser] = await begin();
    await signIn(at, browser, email);
    const account = (await findAccount(at.db.pool, email))!;
    await at.db.pool.query(
      `CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN UPDATE accounts SET email = 'moved@example.com' WHERE id = NEW.account_id; RETURN NEW; END $$;
     CREATE TRIGGER move BEFORE INSERT ON oauth_records FOR EACH ROW WHEN (NEW.model = 'Grant')
       EXECUTE FUNCTION move()`,
    );
    const page = await browser.submit('/decision', { decision: 'allow' });
    await at.db.pool.query('DROP FUNCTION move CASCADE');
    expect([page.leftTo, titleOf(page), problemOn(page)]).toEqual([undefined, ...over]);
    expect(await grantsOf(account)).toBe(0);
  });
});
