import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountCreated, codeSent } from '../../../schemas/api/signup.ts';
import { hashApiKey } from '../../../shared/domain/accounts/api-key.ts';
import { deleteExpiredSignups } from '../../../shared/stores/accounts/signups.ts';
import { APP_URL, BASE_URL, newEmail, startSignupApp } from '../../support/fixtures/signup-app.ts';
import type { SignupApp } from '../../support/fixtures/signup-app.ts';
import { codeIn } from '../../support/fakes/smtp-mail.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let smtp: SmtpReceiver;
let app: SignupApp;

beforeAll(async () => {
  db = await createTestDatabase();
  smtp = await startSmtpReceiver();
  app = await startSignupApp(db.pool, { smtpUrl: smtp.url });
});
afterAll(async () => {
  await app.stop();
  await smtp.stop();
  await db.drop();
});
beforeEach(async () => {
  await db.pool.query("UPDATE service_clock SET shift = '0', frozen_at = NULL");
});

/** A token and its code, read from the mail. */
async function ask(email: string): Promise<{ token: string; code: string }> {
  const reply = await app.signUp(email);
  expect(reply.status, reply.message).toBe(200);
  return { token: reply.body.signup_token as string, code: codeIn(smtp.mailTo(email)) };
}

/** A wrong code, at a distance from the right one. */
function wrong(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, '0');
}

async function accountOf(mailbox: string): Promise<{ balance: number; keys: Buffer[]; ledger: number[] } | undefined> {
  const { rows } = await db.pool.query<{ balance: number; keys: Buffer[]; ledger: number[] }>(
    `SELECT balance,
       ARRAY(SELECT hash FROM api_keys WHERE account_id = a.id AND name = 'agent sign-up') AS keys,
       ARRAY(SELECT amount::integer FROM ledger_entries WHERE account_id = a.id) AS ledger
     FROM accounts a
     WHERE mailbox = $1`,
    [mailbox],
  );
  return rows[0];
}

describe('a complete sign-up', () => {
  test('an address, a mail and a code give an account with a key that is stored as its hash', async () => {
    const email = newEmail();
    const sent = await app.signUp(email);
    expect(sent.status).toBe(200);
    expect(codeSent.parse(sent.body)).toMatchObject({
      signup_token: expect.stringMatching(/^sgn_[0-9a-hjkmnp-tv-z]{32}$/) as string,
      expires_in: 600,
      next: expect.stringContaining(`${APP_URL}/api/agent/verify`) as string,
    });
    const verified = await app.verify(sent.body.signup_token, codeIn(smtp.mailTo(email)));
    expect(verified.status).toBe(201);
    const created = accountCreated.parse(verified.body);
    expect(created).toMatchObject({
      credits: 200,
      limits: { requests_per_second: 1, requests_per_day: 100 },
      docs: `${BASE_URL}/docs`,
      example_request: expect.stringMatching(/^curl .*<API_KEY>.*https:\/\/api\.example\.com\/v1\//) as string,
      notes: expect.stringMatching(/secret.*transcripts.*[Ff]ree/) as string,
    });
    expect(await accountOf(email)).toEqual({ balance: 200, keys: [hashApiKey(created.api_key)], ledger: [200] });
  });

  test('the mail states its purpose, has a text and an HTML part, and goes to one recipient', async () => {
    const email = newEmail();
    const { code } = await ask(email);
    const mail = smtp.mailTo(email);
    expect(mail.sender).toBe('no-reply@app.example.com');
    expect(mail.recipients).toEqual([email]);
    expect(mail.headers.get('to')).toEqual([email]);
    expect(mail.headers.get('from')).toEqual(['Forum <no-reply@app.example.com>']);
    expect(mail.headers.get('auto-submitted')).toEqual(['auto-generated']);
    expect(mail.headers.get('subject')?.join()).not.toContain(code);
    for (const text of [mail.text, mail.html.replace(/<[^>]+>/g, '')]) {
      expect(text).toContain(`Your code is ${code}`);
      expect(text).toMatch(/sign-up for an account and an API key at\s+app\.example\.com/);
      expect(text).toMatch(/10 minutes/);
      expect(text).toMatch(/not you.*ignore/);
    }
  });

  test('the address is stored with its domain in ASCII, and mail goes there', async () => {
    const name = newEmail('').slice(0, -1);
    const reply = await app.signUp(`${name}@Bücher.Example`);
    expect(reply.status).toBe(200);
    expect(smtp.mailTo(`${name}@xn--bcher-kva.example`).headers.get('to')).toEqual([`${name}@xn--bcher-kva.example`]);
  });

  test('the database has neither token nor code', async () => {
    const { token, code } = await ask(newEmail());
    const { rows } = await db.pool.query<{ row: string }>(
      "SELECT encode(token_hash, 'escape') || s::text AS row FROM signups s",
    );
    const all = rows.map(({ row }) => row).join('\n');
    expect(rows.length).toBeGreaterThan(0);
    expect(all).not.toContain(token);
    expect(all).not.toMatch(new RegExp(`\\b${code}\\b`));
  });
});

describe('codes', () => {
  test('three wrong codes are counted down, then the right one comes too late', async () => {
    const email = newEmail();
    const { token, code } = await ask(email);
    const answers = [];
    for (const given of [wrong(code), wrong(code), wrong(code), code, wrong(code), code]) {
      const { status, code: error, message } = await app.verify(token, given);
      answers.push([status, error, message.replace(' Start over with POST /api/agent/signup.', '')]);
    }
    const exhausted = [400, 'too_many_attempts', 'code: was wrong three times.'];
    expect(answers).toEqual([
      [400, 'invalid_code', 'code: wrong code, 2 tries left.'],
      [400, 'invalid_code', 'code: wrong code, 1 try left.'],
      [400, 'invalid_code', 'code: wrong code, no tries left.'],
      exhausted,
      exhausted,
      exhausted,
    ]);
    expect(await accountOf(email)).toBeUndefined();
    // A new code starts over.
    const again = await ask(email);
    expect((await app.verify(again.token, again.code)).status).toBe(201);
  });

  test('after two wrong codes the right one still counts; repeated, it makes no second key', async () => {
    const email = newEmail();
    const { token, code } = await ask(email);
    await app.verify(token, wrong(code));
    await app.verify(token, wrong(code));
    expect((await app.verify(token, code)).status).toBe(201);
    const before = await accountOf(email);
    expect(await app.verify(token, code)).toMatchObject({ status: 409, code: 'account_exists' });
    expect(await accountOf(email)).toEqual(before);
  });

  test('a code belongs to its token', async () => {
    const [one, other] = [await ask(newEmail()), await ask(newEmail())];
    if (one.code !== other.code) {
      expect(await app.verify(one.token, other.code)).toMatchObject({ code: 'invalid_code' });
    }
    expect((await app.verify(one.token, one.code)).status).toBe(201);
  });

  test('a code is valid until the tenth minute ends, then expired for an hour, then unknown', async () => {
    await db.freeze();
    const [a, b] = [await ask(newEmail()), await ask(newEmail())];
    await db.freeze('599.999 seconds');
    expect((await app.verify(a.token, a.code)).status).toBe(201);
    await db.freeze('0.001 seconds');
    expect(await app.verify(b.token, b.code)).toMatchObject({ status: 400, code: 'code_expired' });
    expect(await app.verify(b.token, wrong(b.code))).toMatchObject({ code: 'code_expired' });
    await db.freeze('3599.999 seconds');
    await deleteExpiredSignups(db.pool, 1_000);
    expect(await app.verify(b.token, b.code)).toMatchObject({ code: 'code_expired' });
    await db.freeze('0.001 seconds');
    // Whether or not it was deleted already.
    expect(await app.verify(b.token, b.code)).toMatchObject({ status: 400, code: 'invalid_signup_token' });
    expect(await deleteExpiredSignups(db.pool, 1_000)).toBeGreaterThan(0);
    expect(await app.verify(b.token, b.code)).toMatchObject({ code: 'invalid_signup_token' });
  });

  test('the sweep deletes at most as many as requested, the oldest first', async () => {
    await db.pool.query('DELETE FROM signups');
    await db.freeze();
    for (let each = 0; each < 5; each++) await ask(newEmail());
    await db.freeze('4200 seconds');
    const counts = [await deleteExpiredSignups(db.pool, 3), await deleteExpiredSignups(db.pool, 3)];
    expect([...counts, await deleteExpiredSignups(db.pool, 3)]).toEqual([3, 2, 0]);
  });
});

describe('mailboxes', () => {
  test.each([
    [
      'plus tags',
      (name: string) => [`${name}@example.net`, `${name}+two@example.net`, `${name.toUpperCase()}@example.net`],
    ],
    [
      'dots at a provider that ignores them',
      (name) => [`${name}@gmail.com`, `${name.slice(0, 3)}.${name.slice(3)}+x@googlemail.com`],
    ],
  ])('%s make no second account', async (_, spellings) => {
    const [first, ...others] = spellings(newEmail('').slice(0, -1));
    const asked = await Promise.all([first!, ...others].map(ask));
    expect((await app.verify(asked[0]!.token, asked[0]!.code)).status).toBe(201);
    for (const { token, code } of asked) {
      expect(await app.verify(token, code)).toMatchObject({ status: 409, code: 'account_exists' });
    }
  });

  test('a mailbox with an account gets a code too, and the answers differ only in the token', async () => {
    const [known, unknown] = [newEmail(), newEmail()];
    const { token, code } = await ask(known);
    await app.verify(token, code);
    const replies = [await app.signUp(known), await app.signUp(unknown)];
    const shown = replies.map(({ status, body, headers }) => ({
      status,
      body: { ...body, signup_token: String(body.signup_token).length },
      headers: [...headers.keys()],
    }));
    expect(shown[0]).toEqual(shown[1]);
    const reply = await app.verify(replies[0]!.body.signup_token, codeIn(smtp.mailTo(known)));
    expect(reply).toMatchObject({ status: 409, code: 'account_exists' });
    expect((await accountOf(known))?.keys).toHaveLength(1);
  });

  test('a mailbox whose account was deleted signs up again, without credits', async () => {
    const email = newEmail('example.org');
    const first = await ask(email);
    expect((await app.verify(first.token, first.code)).body.credits).toBe(200);
    await db.pool.query("UPDATE accounts SET mailbox = id, email = '' WHERE mailbox = $1", [email]);
    const second = await ask(email);
    const again = await app.verify(second.token, second.code);
    expect(again.status).toBe(201);
    expect(accountCreated.parse(again.body)).toMatchObject({
      credits: 0,
      notes: expect.stringContaining('had its free credits before') as string,
      example_request: expect.stringContaining('/v1/account') as string,
    });
    expect(await accountOf(email)).toMatchObject({ balance: 0, ledger: [], keys: [expect.anything()] });
  });

  test('a domain gets credits for three accounts in 24 hours; a large provider for all', async () => {
    await db.freeze();
    const creditsOf = async (domain: string) => {
      const { token, code } = await ask(newEmail(domain));
      const { body } = await app.verify(token, code);
      return [
        body.credits,
        String(body.notes).includes(`3 new accounts of ${domain} got free credits within 24 hours`),
      ];
    };
    const given = [];
    for (let each = 0; each < 5; each++) given.push(await creditsOf('own.example'));
    const [full, none] = [
      [200, false],
      [0, true],
    ];
    expect(given).toEqual([full, full, full, none, none]);
    for (let each = 0; each < 5; each++) expect(await creditsOf('outlook.com')).toEqual(full);
    await db.freeze('23 hours 59 minutes 59.999 seconds');
    expect(await creditsOf('own.example')).toEqual(none);
    await db.freeze('0.001 seconds');
    expect(await creditsOf('own.example')).toEqual(full);
  });

  test('subdomains of a domain share its credits, other registrable domains do not', async () => {
    await db.freeze();
    const creditsOf = async (domain: string) => {
      const { token, code } = await ask(newEmail(domain));
      return (await app.verify(token, code)).body.credits;
    };
    const given = [];
    for (const at of ['', 'a.', 'b.', 'c.', 'd.e.']) given.push(await creditsOf(`${at}many-names.co.uk`));
    expect(given).toEqual([200, 200, 200, 0, 0]);
    expect(await creditsOf('other-name.co.uk')).toBe(200);
    const free = [];
    for (const at of ['a', 'b', 'c', 'd']) free.push(await creditsOf(`${at}.github.io`));
    expect(free).toEqual([200, 200, 200, 0]);
  });

  test('a mailbox that had its credits takes nothing from its domain', async () => {
    await db.freeze();
    const domain = 'small.example';
    const open = async (email: string) => {
      const { token, code } = await ask(email);
      return (await app.verify(token, code)).body.credits;
    };
    const early = newEmail(domain);
    expect(await open(early)).toBe(200);
    await db.pool.query('UPDATE accounts SET mailbox = id WHERE mailbox = $1', [early]);
    expect(await open(early)).toBe(0);
    const others = [await open(newEmail(domain)), await open(newEmail(domain)), await open(newEmail(domain))];
    expect(others).toEqual([200, 200, 0]);
  });
});
