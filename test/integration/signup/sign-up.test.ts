import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountCreated, codeSent } from '../../../schemas/api/signup.ts';
import { hashApiKey } from '../../../shared/accounts/rules/credentials.ts';
import { deleteExpired } from '../../../shared/maintenance/retention.ts';
import { APP_URL, newEmail, SECRET_KEY } from '../../support/fixtures/signup-app.ts';
import { codeIn } from '../../support/fakes/smtp-mail.ts';
import { shownBy, SignupBench, wrongCode } from '../../support/fixtures/signup-bench.ts';
import { createMailboxHash } from '../../../shared/accounts/rules/mailbox.ts';
import { closeAccount } from '../../../shared/accounts/close-account.ts';
import { credit } from '../../../shared/billing/ledger.ts';
import type { SignupReply, SignupApp } from '../../support/fixtures/signup-app.ts';
import { signupFaults } from '../../support/oracles/signup-audit.ts';

let bench: SignupBench;
beforeAll(async () => {
  bench = await SignupBench.create();
});
afterAll(() => bench.stop());
beforeEach(() => bench.reset());

interface FoundAccount {
  id: string;
  balance: number;
  owed: number;
  keys: Buffer[];
  ledger: number[];
}

async function accountOf(mailbox: string): Promise<FoundAccount | undefined> {
  const { rows } = await bench.db.pool.query<FoundAccount>(
    `SELECT id, balance, owed,
       ARRAY(SELECT hash FROM api_keys WHERE account_id = a.id AND name = 'agent sign-up') AS keys,
       ARRAY(SELECT amount::integer FROM ledger_entries WHERE account_id = a.id) AS ledger
     FROM accounts a
     WHERE mailbox = $1`,
    [mailbox],
  );
  return rows[0];
}

describe('at the same time', () => {
  /** How many answers there were of each kind. */
  function tally(replies: readonly SignupReply[]): Record<string, number> {
    const kinds = replies.map(({ status, code }) => code ?? String(status));
    return Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, of]) => [kind, of.length]));
  }

  async function atOnce(
    count: number,
    verify: (app: SignupApp, at: number) => Promise<SignupReply>,
  ): Promise<SignupReply[]> {
    return Promise.all(Array.from({ length: count }, (_, at) => verify(bench.apps[at % 2]!, at)));
  }

  test('fifty concurrent right codes open one account with one key', async () => {
    const { token, code } = await bench.ask(newEmail());
    expect(tally(await atOnce(50, (app) => app.verify(token, code)))).toEqual({ 201: 1, account_exists: 49 });
    expect(await signupFaults(bench.db.pool)).toEqual([]);
  });

  test('ten concurrent mailboxes of one small domain: three get credits', async () => {
    const asked = await Promise.all(Array.from({ length: 10 }, () => bench.ask(newEmail('crowd.example'))));
    const replies = await atOnce(10, (app, at) => app.verify(asked[at]!.token, asked[at]!.code));
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(replies.map(({ body }) => body.credits).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 200, 200, 200]);
    expect(await signupFaults(bench.db.pool)).toEqual([]);
  });

  test('closing an account while its mailbox signs up again: nothing breaks, and everything that exists is whole', async () => {
    const hash = createMailboxHash(SECRET_KEY);
    for (let round = 0; round < 3; round++) {
      const email = newEmail('outlook.com');
      await bench.open(email);
      const { id } = (await accountOf(email))!;
      const asked = [await bench.ask(email), await bench.ask(email), await bench.ask(email)];
      const closing = closeAccount(bench.db.pool, id, { mailboxHash: hash(email) });
      const replies = await atOnce(9, (app, at) => app.verify(asked[at % 3]!.token, asked[at % 3]!.code));
      expect(await closing).toBe(true);
      const expected = ['201', 'account_exists', 'invalid_signup_token'];
      expect(Object.keys(tally(replies)).filter((kind) => !expected.includes(kind))).toEqual([]);
      for (const { status, body } of replies) if (status === 201) expect(body.credits).toBe(0);
      const open = await bench.db.pool.query('SELECT FROM accounts WHERE mailbox = $1', [email]);
      expect(open.rowCount).toBe(tally(replies)['201'] ?? 0);
    }
    expect(await signupFaults(bench.db.pool)).toEqual([]);
  });

  describe('whether a mailbox has an account', () => {
    test('is never read: a code can be requested while the table of accounts is missing', async () => {
      await bench.db.pool.query('ALTER TABLE accounts RENAME TO accounts_away');
      const reply = await bench.apps[0].signUp(newEmail());
      await bench.db.pool.query('ALTER TABLE accounts_away RENAME TO accounts');
      expect(reply.status).toBe(200);
    });
  });
});

describe('a complete sign-up', () => {
  test('an address, a mail and a code give an account with a key that is stored as its hash', async () => {
    const email = newEmail();
    const sent = await bench.app.signUp(email);
    expect(sent.status).toBe(200);
    expect(codeSent.parse(sent.body)).toMatchObject({
      signup_token: expect.stringMatching(/^sgn_[0-9a-hjkmnp-tv-z]{32}$/) as string,
      expires_in: 600,
      next: expect.stringContaining(`${APP_URL}/api/agent/verify`) as string,
    });
    const verified = await bench.app.verify(sent.body.signup_token, codeIn(bench.smtp.mailTo(email)));
    expect(verified.status).toBe(201);
    const created = accountCreated.parse(verified.body);
    expect(created).toMatchObject({
      credits: 200,
      limits: { requests_per_second: 1, requests_per_day: 100 },
    });
    expect(await accountOf(email)).toMatchObject({ balance: 200, keys: [hashApiKey(created.api_key)], ledger: [200] });
  });

  test('the address is stored with its domain in ASCII, and mail goes there', async () => {
    const name = newEmail('').slice(0, -1);
    const reply = await bench.app.signUp(`${name}@Bücher.Example`);
    expect(reply.status).toBe(200);
    expect(bench.smtp.mailTo(`${name}@xn--bcher-kva.example`).headers.get('to')).toEqual([
      `${name}@xn--bcher-kva.example`,
    ]);
  });

  test('the database has neither token nor code', async () => {
    const { token, code } = await bench.ask(newEmail());
    const { rows } = await bench.db.pool.query<{ row: string }>(
      "SELECT encode(token_hash, 'escape') || s::text AS row FROM signups s",
    );
    const all = rows.map(({ row }) => row).join('\n');
    expect(rows.length).toBeGreaterThan(0);
    expect(all).not.toContain(token);
    expect(all).not.toMatch(new RegExp(`\\b${code}\\b`));
  });
});

describe('codes', () => {
  test('after three wrong codes the right one comes too late', async () => {
    const email = newEmail();
    const { token, code } = await bench.ask(email);
    const answers = [];
    for (const given of [wrongCode(code), wrongCode(code), wrongCode(code), code, wrongCode(code), code]) {
      answers.push((await bench.app.verify(token, given)).code);
    }
    expect(answers).toEqual([...Array<string>(3).fill('invalid_code'), ...Array<string>(3).fill('too_many_attempts')]);
    expect(await accountOf(email)).toBeUndefined();
    // A new code starts over.
    const again = await bench.ask(email);
    expect((await bench.app.verify(again.token, again.code)).status).toBe(201);
  });

  test('a code is valid until the tenth minute ends, then expired for an hour, then unknown', async () => {
    const [a, b] = [await bench.ask(newEmail()), await bench.ask(newEmail())];
    await bench.db.freeze('599.999 seconds');
    expect((await bench.app.verify(a.token, a.code)).status).toBe(201);
    await bench.db.freeze('0.001 seconds');
    expect(await bench.app.verify(b.token, b.code)).toMatchObject({ status: 400, code: 'code_expired' });
    expect(await bench.app.verify(b.token, wrongCode(b.code))).toMatchObject({ code: 'code_expired' });
    await bench.db.freeze('3599.999 seconds');
    await deleteExpired(bench.db.pool, 'signups', 1_000);
    expect(await bench.app.verify(b.token, b.code)).toMatchObject({ code: 'code_expired' });
    await bench.db.freeze('0.001 seconds');
    // Whether or not it was deleted already.
    expect(await bench.app.verify(b.token, b.code)).toMatchObject({ status: 400, code: 'invalid_signup_token' });
    expect(await deleteExpired(bench.db.pool, 'signups', 1_000)).toBeGreaterThan(0);
    expect(await bench.app.verify(b.token, b.code)).toMatchObject({ code: 'invalid_signup_token' });
  });
});

describe('mailboxes', () => {
  test('a mailbox with an account gets a code too, and the answers differ only in the token', async () => {
    const [known, unknown] = [newEmail(), newEmail()];
    await bench.open(known);
    const replies = [await bench.app.signUp(known), await bench.app.signUp(unknown)] as const;
    expect(shownBy(replies[0])).toEqual(shownBy(replies[1]));
    const reply = await bench.app.verify(replies[0].body.signup_token, codeIn(bench.smtp.mailTo(known)));
    expect(reply).toMatchObject({ status: 409, code: 'account_exists' });
    expect((await accountOf(known))?.keys).toHaveLength(1);
  });

  test('a mailbox whose account was deleted signs up again, without credits', async () => {
    const email = newEmail('example.org');
    expect((await bench.open(email)).body.credits).toBe(200);
    await bench.db.pool.query("UPDATE accounts SET mailbox = id, email = '' WHERE mailbox = $1", [email]);
    const again = await bench.open(email);
    expect(again.status).toBe(201);
    expect(again.body.credits).toBe(0);
    expect(await accountOf(email)).toMatchObject({ balance: 0, ledger: [], keys: [expect.anything()] });
  });

  test('a domain gets credits for three accounts in 24 hours; a large provider for all', async () => {
    const creditsOf = async (domain: string) => (await bench.open(newEmail(domain))).body.credits;
    const given = [];
    for (let each = 0; each < 5; each++) given.push(await creditsOf('own.example'));
    expect(given).toEqual([200, 200, 200, 0, 0]);
    for (let each = 0; each < 5; each++) expect(await creditsOf('outlook.com')).toBe(200);
    await bench.db.freeze('23 hours 59 minutes 59.999 seconds');
    expect(await creditsOf('own.example')).toBe(0);
    await bench.db.freeze('0.001 seconds');
    expect(await creditsOf('own.example')).toBe(200);
  });

  test('subdomains of a domain share its credits, other registrable domains do not', async () => {
    const creditsOf = async (domain: string) => (await bench.open(newEmail(domain))).body.credits;
    const given = [];
    for (const at of ['', 'a.', 'b.', 'c.', 'd.e.']) given.push(await creditsOf(`${at}many-names.co.uk`));
    expect(given).toEqual([200, 200, 200, 0, 0]);
    expect(await creditsOf('other-name.co.uk')).toBe(200);
    const free = [];
    for (const at of ['a', 'b', 'c', 'd']) free.push(await creditsOf(`${at}.github.io`));
    expect(free).toEqual([200, 200, 200, 0]);
  });

  test('a mailbox that had its credits takes nothing from its domain', async () => {
    const domain = 'small.example';
    const open = async (email: string) => (await bench.open(email)).body.credits;
    const early = newEmail(domain);
    expect(await open(early)).toBe(200);
    await bench.db.pool.query('UPDATE accounts SET mailbox = id WHERE mailbox = $1', [early]);
    expect(await open(early)).toBe(0);
    const others = [await open(newEmail(domain)), await open(newEmail(domain)), await open(newEmail(domain))];
    expect(others).toEqual([200, 200, 0]);
  });
});

describe('spellings of one mailbox, and what it owed', () => {
  const newName = () => newEmail('').slice(0, -1);

  test.each([
    ['Yandex', (name: string) => [`${name}.a@ya.ru`, `${name}-a@yandex.com`, `${name}.a@yandex.kz`]],
    ['Apple', (name: string) => [`${name}@me.com`, `${name}@icloud.com`, `${name}@mac.com`]],
    ['Yahoo', (name: string) => [`${name}-one@yahoo.com`, `${name}-two@yahoo.com`]],
  ])('spellings of one mailbox at %s are accounts of their own, and credited once', async (_provider, spellings) => {
    const replies: SignupReply[] = [];
    for (const email of spellings(newName())) replies.push(await bench.open(email));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201));
    expect(replies.map(({ body }) => body.credits)).toEqual([200, ...replies.slice(1).map(() => 0)]);
  });

  test('an account that was credited as the spelling it has keeps its key, and no other spelling is credited', async () => {
    const name = newName();
    const email = `${name}.b@ya.ru`;
    expect((await bench.open(email)).body.credits).toBe(200);
    // As before there was a form for all spellings.
    const hashOf = createMailboxHash(SECRET_KEY);
    await bench.db.pool.query('DELETE FROM credited_mailboxes WHERE mailbox_hash = $1', [
      hashOf(`${name}-b@yandex.ru`),
    ]);
    const { rowCount } = await bench.db.pool.query('SELECT FROM credited_mailboxes WHERE mailbox_hash = $1', [
      hashOf(email),
    ]);
    expect(rowCount).toBe(1);

    expect((await bench.open(`${name}-b@yandex.ru`)).body.credits).toBe(0);
    expect((await bench.open(email)).code).toBe('account_exists');
    const { token, code } = await bench.ask(email, 'recover');
    expect((await bench.app.recoverKey(token, code)).status).toBe(201);
  });

  test('what a deleted account owed is owed by the next account of its mailbox, once', async () => {
    const email = newEmail('example.net');
    const hashOf = createMailboxHash(SECRET_KEY);
    const close = async () => closeAccount(bench.db.pool, (await accountOf(email))!.id, { mailboxHash: hashOf(email) });
    expect((await bench.open(email)).body.credits).toBe(200);
    await bench.db.pool.query('UPDATE accounts SET owed = 700 WHERE mailbox = $1', [email]);
    await close();

    expect((await bench.open(email)).body.credits).toBe(0);
    const again = (await accountOf(email))!;
    expect(again).toMatchObject({ balance: 0, owed: 700 });
    expect(
      await credit(bench.db.pool, { accountId: again.id, kind: 'pack', credits: 1_000, reference: 'bought' }),
    ).toBe(300);
    await close();

    await bench.open(email);
    expect(await accountOf(email)).toMatchObject({ balance: 0, owed: 0 });
  });
});
