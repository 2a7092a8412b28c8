import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser, problemOn, titleOf } from '../../support/clients/oauth-browser.ts';
import { APP_URL, BASE_URL, newEmail } from '../../support/fixtures/signup-app.ts';
import { signupFaults } from '../../support/oracles/signup-audit.ts';
import { codeIn, linkIn } from '../../support/fakes/smtp-mail.ts';
import { shownBy, SignupBench, wrongCode } from '../../support/fixtures/signup-bench.ts';

let bench: SignupBench;
beforeAll(async () => {
  bench = await SignupBench.create();
});
afterAll(() => bench.stop());
beforeEach(() => bench.reset());

/** Asks for a code or a link, whichever is mailed. */
async function ask(email: string): Promise<string> {
  const reply = await bench.app.signUp(email);
  if (reply.status !== 200) throw new Error(reply.message);
  return reply.body.signup_token as string;
}

/** Tries wrong codes until none is accepted any more; returns how many were checked. */
async function useUpTries(email: string): Promise<number> {
  let checked = 0;
  for (let each = 0; each < 5; each++) {
    const token = await ask(email);
    if (!bench.smtp.mailTo(email).text.startsWith('Your code is')) return checked;
    const code = codeIn(bench.smtp.mailTo(email));
    for (let by = 1; by <= 3; by++)
      if ((await bench.app.verify(token, wrongCode(code, by))).code === 'invalid_code') checked++;
  }
  return checked;
}

/** A browser whose requests to the public address reach the processes in turn. */
function newBrowser(): Browser {
  return new Browser((url, init) => fetch(String(url).replace(APP_URL, bench.app.url), init));
}

/** A mailbox that gets links, with the newest one. */
async function linked(email = newEmail()): Promise<{ email: string; token: string; link: string; browser: Browser }> {
  await useUpTries(email);
  const token = await ask(email);
  return { email, token, link: linkIn(bench.smtp.mailTo(email)), browser: newBrowser() };
}

const accountsOf = async (mailbox: string) =>
  (await bench.db.pool.query('SELECT FROM accounts WHERE mailbox = $1', [mailbox])).rowCount;

describe('wrong codes of a mailbox', () => {
  test('are checked six times in 24 hours and twelve times in 30 days, over all tokens and processes', async () => {
    const email = newEmail();
    const checked = [];
    for (let day = 0; day < 3; day++) {
      checked.push(await useUpTries(email));
      await bench.db.freeze('1 day');
    }
    expect(checked).toEqual([6, 6, 0]);
    await bench.db.freeze('26 days 23 hours 59 minutes 59.999 seconds');
    expect(await useUpTries(email)).toBe(0);
    await bench.db.freeze('2 days 0.001 seconds');
    expect(await useUpTries(email)).toBe(6);
  }, 60_000);
});

describe('the link that is mailed instead', () => {
  test('is requested and answered like a code: nothing reveals which was mailed', async () => {
    const [plain, { email }] = [newEmail(), await linked()];
    const replies = [await bench.app.signUp(plain), await bench.app.signUp(email)] as const;
    expect(shownBy(replies[0])).toEqual(shownBy(replies[1]));
    expect(bench.smtp.mailTo(email).text).not.toMatch(/\b\d{6}\b/);
    expect(bench.smtp.mailTo(email).text).toContain('Too many wrong codes were entered');
    expect(bench.smtp.mailTo(email).html).toContain(`<a href="${linkIn(bench.smtp.mailTo(email))}">`);
  });

  test('opens the account by its button, in the browser that opened it; the requester gets nothing', async () => {
    const { email, token, link, browser } = await linked();
    expect(link.startsWith(`${APP_URL}/api/agent/link?token=lnk_`)).toBe(true);
    // Mail scanners open links.
    for (const method of ['GET', 'HEAD', 'GET']) await fetch(link.replace(APP_URL, bench.app.url), { method });
    expect(await accountsOf(email)).toBe(0);
    const page = await browser.open(link);
    expect([page.status, titleOf(page), await accountsOf(email)]).toEqual([200, 'Open an account', 0]);
    const done = await browser.submit('/link');
    expect([done.status, titleOf(done)]).toEqual([201, 'Your account is open']);
    expect(done.html).toMatch(/fk_[0-9a-z]{40}/);
    expect(done.html).toContain('200 credits');
    expect(done.html).toContain(BASE_URL);
    for (const code of ['000000', '123456']) {
      expect(await bench.app.verify(token, code)).toMatchObject({ status: 400, code: 'too_many_attempts' });
    }
    await browser.open(link);
    expect(problemOn(await browser.submit('/link'))).toContain('was already used');
    expect(await signupFaults(bench.db.pool)).toEqual([]);
  });

  test('reveals only to its reader that there is an account', async () => {
    const email = newEmail();
    await bench.open(email);
    const { link, browser } = await linked(email);
    await browser.open(link);
    const done = await browser.submit('/link');
    expect([done.status, problemOn(done)]).toEqual([409, expect.stringContaining('already has an account')]);
    expect(done.html).not.toMatch(/fk_/);
  });

  test('pressed twenty times at once in two processes, opens one account and shows one key', async () => {
    const { email, link, browser } = await linked();
    await browser.open(link);
    const pages = await Promise.all(Array.from({ length: 20 }, () => browser.submit('/link')));
    expect(pages.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(pages.filter(({ html }) => html.includes('fk_'))).toHaveLength(1);
    expect(await accountsOf(email)).toBe(1);
    expect(await signupFaults(bench.db.pool)).toEqual([]);
  });

  test('cannot be used by other sites, without its cookie, or with another form than its page has', async () => {
    const { email, link, browser } = await linked();
    const cases: [headers: Record<string, string>, fields: Record<string, string>][] = [
      [{ 'sec-fetch-site': 'cross-site', origin: 'https://attacker.example' }, {}],
      [{ 'sec-fetch-site': 'same-site' }, {}],
      [{ origin: 'https://attacker.example' }, {}],
      [{ cookie: '' }, {}],
      [{}, { proof: '' }],
      [{}, { proof: '0'.repeat(26) }],
      [{}, { token: '' }],
      [{}, { token: `lnk_${'0'.repeat(26)}` }],
    ];
    for (const [headers, fields] of cases) {
      await browser.open(link);
      if ('cookie' in headers) browser.cookies = [];
      const refused = await browser.submit('/link', fields, headers);
      const told = JSON.stringify({ headers, fields });
      expect([refused.status, titleOf(refused), await accountsOf(email)], told).toEqual([
        400,
        'Something went wrong',
        0,
      ]);
      expect(problemOn(refused), told).toBeDefined();
    }
    await browser.open(link);
    expect((await browser.submit('/link')).status).toBe(201);
  });

  test('is on pages that protect it: no referrer, no cache, no frame, nothing from elsewhere, no script', async () => {
    const { link, browser } = await linked();
    const pages = [await browser.open(link), await browser.submit('/link'), await browser.open(`${link}x`)];
    for (const { html, headers } of pages) {
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
      );
      expect(html).not.toMatch(/<script|javascript:| on[a-z]+=|<link|<img|<iframe|url\(/i);
    }
    expect(browser.setCookies).toEqual([
      expect.stringMatching(/^link_page=[0-9a-z]{26}; Path=\/api\/agent\/link; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    const token = new URL(link).searchParams.get('token')!;
    const { rows } = await bench.db.pool.query<{ row: string }>(
      "SELECT s::text || encode(link_hash, 'escape') AS row FROM signups s",
    );
    expect(rows.map(({ row }) => row).join()).not.toContain(token);
    for (const one of bench.apps) expect(one.log()).not.toMatch(/lnk_/);
  });

  test('can be pressed 60 times an hour per network', async () => {
    const post = () => fetch(`${bench.app.url}/api/agent/link`, { method: 'POST', headers: { accept: 'text/html' } });
    const statuses = [];
    for (let each = 0; each < 62; each++) statuses.push((await post()).status);
    expect(statuses).toEqual([...Array<number>(60).fill(400), 429, 429]);
  });
});
