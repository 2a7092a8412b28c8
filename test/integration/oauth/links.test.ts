import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeAddress, findAccount, openAccount } from '../../../shared/accounts/accounts.ts';
import { freezeAccount } from '../../../shared/accounts/close-account.ts';
import { Browser, problemOn, titleOf } from '../../support/clients/oauth-browser.ts';
import type { SeenPage } from '../../support/clients/oauth-browser.ts';
import { codeIn, linkIn } from '../../support/fakes/smtp-mail.ts';
import {
  authorizationUrl,
  newEmail,
  newPkce,
  publish,
  startOAuthInstallation,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;
let client: string;

beforeAll(async () => {
  at = await startOAuthInstallation();
  client = publish(at);
});
afterAll(() => at.stop());
beforeEach(() => at.reset());

const wrong = (code: string, by: number) => String((Number(code) + by) % 1_000_000).padStart(6, '0');

/** A browser on the first page of a sign-in. */
async function begin(): Promise<Browser> {
  const browser = new Browser(at.fetch);
  await browser.open(authorizationUrl(at, client, newPkce()));
  return browser;
}

/** Acts like an attacker: two codes, three wrong tries each. Returns the text of the last page. */
async function useUpTries(email: string): Promise<SeenPage> {
  const browser = await begin();
  let page: SeenPage | undefined;
  for (let each = 0; each < 2; each++) {
    await browser.submit('/address', { email });
    const code = codeIn(at.smtp.mailTo(email));
    for (let by = 1; by <= 3; by++) page = await browser.submit('/code', { code: wrong(code, by) });
  }
  return page!;
}

/** Requests a code for a mailbox that gets links, and returns the link. */
async function linked(email: string): Promise<{ asking: Browser; link: string; page: SeenPage }> {
  await useUpTries(email);
  const asking = await begin();
  const page = await asking.submit('/address', { email });
  return { asking, page, link: linkIn(at.smtp.mailTo(email)) };
}

async function press(browser: Browser, link: string): Promise<SeenPage> {
  const page = await browser.open(link);
  expect([page.status, titleOf(page), page.headers.get('referrer-policy')]).toEqual([200, 'Sign in', 'no-referrer']);
  return browser.submit('/link');
}

describe('a mailbox with too many wrong codes', () => {
  test('is notified, and gets a link; the page for the code looks the same', async () => {
    const [email, other] = [newEmail(), newEmail()];
    expect(problemOn(await useUpTries(email))).toContain('wrong three times');
    expect(at.smtp.mailTo(email).headers.get('subject')).toEqual(['Wrong codes were entered for your address']);
    const pages = [];
    for (const each of [email, other]) {
      const { html } = await (await begin()).submit('/address', { email: each });
      pages.push(html.replaceAll(each, 'EMAIL').replace(/interaction\/[\w-]+/g, 'interaction/UID'));
    }
    expect(pages[0]).toBe(pages[1]);
    expect(linkIn(at.smtp.mailTo(email)).startsWith(`${at.baseUrl}/oauth/link?token=lnk_`)).toBe(true);
  });

  test('accepts none of its outstanding codes, not even the right one', async () => {
    const email = newEmail();
    const browser = await begin();
    await browser.submit('/address', { email });
    const code = codeIn(at.smtp.mailTo(email));
    await useUpTries(email);
    const page = await browser.submit('/code', { code });
    expect([titleOf(page), problemOn(page)]).toEqual([
      'Sign in',
      expect.stringContaining('the mail will contain a link'),
    ]);
  });
});

describe('a link', () => {
  test('continues to the consent page in the browser that asked', async () => {
    const { asking, link } = await linked(newEmail());
    expect(titleOf(await press(asking, link))).toBe('Allow this app?');
    const { leftTo } = await asking.submit('/decision', { decision: 'allow' });
    expect(leftTo!.searchParams.get('code')).toMatch(/^oac_/);
  });

  test('signs in the browser that opened it, never the one that asked', async () => {
    const email = newEmail();
    const { asking, link, page } = await linked(email);
    const owner = new Browser(at.fetch);
    const done = await press(owner, link);
    expect([done.status, titleOf(done)]).toEqual([200, 'You are signed in']);
    // The browser that asked stays on the page for a code, which does not exist.
    expect(titleOf(await asking.open(page.url))).toBe('Enter the code');
    expect(titleOf(await asking.submit('/code', { code: '000000' }))).toBe('Sign in');
    await asking.open(link);
    expect(problemOn(await asking.submit('/link'))).toContain('was already used');
    expect(titleOf(await asking.open(page.url))).toBe('Sign in');
    // The owner's own authorisation needs no code, once.
    const own = await owner.open(authorizationUrl(at, client, newPkce()));
    expect([titleOf(own), own.html]).toEqual(['Allow this app?', expect.stringContaining(email)]);
    expect((await owner.submit('/decision', { decision: 'allow' })).leftTo).toBeDefined();
    expect(titleOf(await owner.open(authorizationUrl(at, client, newPkce())))).toBe('Sign in');
  });

  test('signs in for ten minutes, in a cookie that scripts and other sites cannot read', async () => {
    const { link } = await linked(newEmail());
    const owner = new Browser(at.fetch);
    await press(owner, link);
    expect(owner.setCookies.findLast((cookie) => cookie.startsWith('oauth_signed_in='))).toMatch(
      /^oauth_signed_in=[0-9a-z]{52}; Max-Age=600; Path=\/oauth; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    await at.db.setShift('10 minutes 1 second');
    expect(titleOf(await owner.open(authorizationUrl(at, client, newPkce())))).toBe('Sign in');
  });

  test('is valid for one of two concurrent authorisations in two processes', async () => {
    for (let round = 0; round < 2; round++) {
      const owner = new Browser(at.fetch);
      await press(owner, (await linked(newEmail())).link);
      const twins = [owner, new Browser(at.fetch)];
      twins[1]!.cookies = [...owner.cookies];
      const pages = await Promise.all(twins.map((twin) => twin.open(authorizationUrl(at, client, newPkce()))));
      expect(pages.map(titleOf).sort()).toEqual(['Allow this app?', 'Sign in']);
      await at.reset();
    }
  });

  test('of sign-up does not work for sign-in, nor the other way round', async () => {
    const email = newEmail();
    const { link } = await linked(email);
    await at.apis[0].call(undefined, 'POST', '/api/agent/signup', { email });
    const ofSignUp = linkIn(at.smtp.mailTo(email));
    for (const swapped of [
      ofSignUp.replace('/api/agent/link', '/oauth/link'),
      link.replace('/oauth/link', '/api/agent/link'),
    ]) {
      const browser = new Browser(at.fetch);
      await browser.open(swapped);
      expect(problemOn(await browser.submit('/link'))).toContain('was already used, or is older');
    }
    expect(await findAccount(at.db.pool, email)).toBeUndefined();
    expect(titleOf(await press(new Browser(at.fetch), link))).toBe('You are signed in');
  });

  test('of a frozen account signs nobody in', async () => {
    const email = newEmail();
    const opened = await openAccount(at.db.pool, { email, credits: 0, pack: 0, keyName: 'x' });
    await freezeAccount(at.db.pool, opened!.accountId);
    const { link } = await linked(email);
    const owner = new Browser(at.fetch);
    expect(problemOn(await press(owner, link))).toBe('This account is frozen. Contact the operator of the service.');
    expect(titleOf(await owner.open(authorizationUrl(at, client, newPkce())))).toBe('Sign in');
  });

  test('of an address that its account no longer has signs nobody in', async () => {
    const email = newEmail();
    const { link } = await linked(email);
    const browser = new Browser(at.fetch);
    expect(titleOf(await press(browser, link))).toBe('You are signed in');
    const { id } = (await findAccount(at.db.pool, email))!;
    const moved = newEmail();
    const change = { accountId: id, oldEmail: email, newEmail: moved, newMailbox: moved };
    await changeAddress(at.db.pool, { ...change, mailboxHashes: [], keptSessionId: '' });
    const page = await browser.open(authorizationUrl(at, client, newPkce()));
    expect([titleOf(page), problemOn(page)]).toEqual(['Sign in', 'The code is no longer valid. Request a new one.']);
    const grants = await at.db.pool.query(`SELECT FROM oauth_records WHERE account_id = $1 AND model = 'Grant'`, [id]);
    expect(grants.rowCount).toBe(0);
  });
});
