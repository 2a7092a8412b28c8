import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import { charge, credit } from '../../../shared/stores/ledger/ledger.ts';
import { createMailer } from '../../../shared/mail/create-mailer.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Body, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

const messageOf = (body: Body) => (body.error as { message: string }).message;

describe('the ledger', () => {
  test('pages start with the newest entry and list each entry once until `after` is null; the amounts add up to the balance', async () => {
    const { accountId, apiKey } = await api.account({ credits: 1_000 });
    for (let at = 1; at <= 30; at++) {
      await charge(db.pool, { accountId, kind: 'read', credits: at, reference: `request ${at}` });
    }
    const pages: { amount: number; balance_after: number; reference: string }[][] = [];
    let after: string | null = '';
    while (after !== null) {
      const query: string = after === '' ? '?limit=7' : `?limit=7&after=${after}`;
      const { body, headers } = await api.call(apiKey, 'GET', `/v1/account/ledger${query}`);
      pages.push(body.items as (typeof pages)[number]);
      after = body.after as string | null;
      const link = headers.get('link');
      expect(link).toBe(
        after === null ? null : `<http://localhost/v1/account/ledger?limit=7&after=${after}>; rel="next"`,
      );
      // Charges made in the meantime appear on no later page.
      await charge(db.pool, { accountId, kind: 'read', credits: 1, reference: `between ${pages.length}` });
    }
    expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 7, 3]);
    const entries = pages.flat();
    expect(entries.map(({ amount }) => amount)).toEqual([...Array.from({ length: 30 }, (_, at) => at - 30), 1_000]);
    expect(entries[0]!.balance_after).toBe(entries.reduce((sum, { amount }) => sum + amount, 0));
    const { body } = await api.call(apiKey, 'GET', '/v1/account/ledger');
    expect(body.items).toHaveLength(25);
  });

  test('CSV has the same page with a header line, quotes where needed and no formulas', async () => {
    const { accountId, apiKey } = await api.account({ credits: 50 });
    await credit(db.pool, { accountId, kind: 'grant', credits: 5, reference: '=1+1, "thanks"' });
    await charge(db.pool, { accountId, kind: 'read', credits: 3, reference: 'r' });
    const reply = await api.call(apiKey, 'GET', '/v1/account/ledger?limit=2', undefined, { accept: 'text/csv' });
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(reply.headers.get('link')).toMatch(/limit=2&after=\d+>; rel="next"$/);
    const lines = reply.text.split('\r\n').map((line) => line.replace(/^\d+,[^,]+,/, 'ID,TIME,'));
    expect(lines).toEqual([
      'id,created_at,kind,amount,balance_after,reference,request_id,route,key_id',
      'ID,TIME,read,-3,52,r,,,',
      `ID,TIME,grant,5,55,"'=1+1, ""thanks""",,,`,
      '',
    ]);
    const json = await api.call(apiKey, 'GET', '/v1/account/ledger', undefined, { accept: 'text/csv;q=0.5, */*' });
    expect(json.headers.get('content-type')).toContain('application/json');
  });

  test('shows only the own ledger and refuses invalid queries', async () => {
    const [mine, other] = [await api.account({ credits: 7 }), await api.account({ credits: 8 })];
    const { body } = await api.call(mine.apiKey, 'GET', '/v1/account/ledger');
    expect(body.items).toMatchObject([{ kind: 'grant', amount: 7, balance_after: 7, reference: 'opening' }]);
    const theirs = await api.call(other.apiKey, 'GET', '/v1/account/ledger');
    const [{ id }] = theirs.body.items as [{ id: string }];
    expect((await api.call(mine.apiKey, 'GET', `/v1/account/ledger?after=${Number(id) + 1}`)).body.items).toHaveLength(
      1,
    );
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'after=', 'after=-1', `after=${'9'.repeat(16)}`, 'x=1']) {
      const refused = await api.call(mine.apiKey, 'GET', `/v1/account/ledger?${query}`);
      expect([refused.status, messageOf(refused.body)]).toEqual([
        400,
        expect.stringMatching(`^${query.split('=')[0]!}: `) as string,
      ]);
    }
  });
});

describe('keys', () => {
  test('an account has several keys, listed without secrets and revoked one by one', async () => {
    const { apiKey } = await api.account();
    const made = await api.call(apiKey, 'POST', '/v1/account/keys', { name: ' laptop ', scopes: ['account'] });
    expect([made.status, made.body.key]).toEqual([
      201,
      {
        id: (made.body.api_key as string).slice(3, 11),
        name: 'laptop',
        scopes: ['account'],
        created_at: expect.any(String) as string,
        last_used_at: null,
      },
    ]);
    const second = made.body.api_key as string;
    expect((await api.call(second, 'GET', '/v1/account')).status).toBe(200);
    expect((await api.call(second, 'GET', '/v1/forum/subreddits')).body.error).toMatchObject({
      code: 'insufficient_scope',
    });
    const listed = await api.call(apiKey, 'GET', '/v1/account/keys');
    expect(listed.body.items).toMatchObject([
      { name: 'test', scopes: KEY_SCOPES },
      { name: 'laptop', scopes: ['account'] },
    ]);
    expect(listed.text).not.toContain(second.slice(11));
    expect((await api.call(apiKey, 'DELETE', `/v1/account/keys/${second.slice(3, 11)}`)).body).toEqual({
      status: 'revoked',
    });
    expect((await api.call(second, 'GET', '/v1/account')).status).toBe(401);
    // A repeated request is answered like the first.
    const again = await api.call(apiKey, 'DELETE', `/v1/account/keys/${second.slice(3, 11)}`);
    expect([again.status, again.body]).toEqual([200, { status: 'revoked' }]);
    expect((await api.call(apiKey, 'GET', '/v1/account/keys')).body.items).toHaveLength(1);
  });

  test("a key cannot grant more than it has or reach another account's keys", async () => {
    const [mine, other] = [await api.account(), await api.account()];
    const bare = await api.call(mine.apiKey, 'POST', '/v1/account/keys', { name: 'bare', scopes: ['account'] });
    const weak = bare.body.api_key as string;
    for (const [scopes, lacking] of [
      [undefined, 'forum:read, monitors:read, monitors:write'],
      [['account', 'monitors:write'], 'monitors:write'],
    ] as const) {
      const more = await api.call(weak, 'POST', '/v1/account/keys', { name: 'more', scopes });
      expect([more.status, messageOf(more.body)]).toEqual([403, `scopes: this key lacks ${lacking} itself.`]);
    }
    // The stored answer holds the key.
    const repeated = (key: string) =>
      api.call(key, 'POST', '/v1/account/keys', { name: 'strong' }, { 'idempotency-key': 'again' });
    expect((await repeated(mine.apiKey)).status).toBe(201);
    const stolen = await repeated(weak);
    expect([stolen.status, stolen.body.error]).toMatchObject([403, { code: 'insufficient_scope' }]);
    expect((await repeated(mine.apiKey)).headers.get('idempotency-replayed')).toBe('true');
    const equal = await api.call(weak, 'POST', '/v1/account/keys', { name: 'equal', scopes: ['account'] });
    expect([equal.status, equal.body.key]).toMatchObject([201, { scopes: ['account'] }]);
    for (const id of [other.apiKey.slice(3, 11), 'zzzzzzzz', '%00', 'x'.repeat(500)]) {
      const refused = await api.call(mine.apiKey, 'DELETE', `/v1/account/keys/${id}`);
      expect([refused.status, messageOf(refused.body)]).toEqual([404, 'No such key.']);
    }
    expect((await api.call(other.apiKey, 'GET', '/v1/account')).status).toBe(200);
  });

  test.each([
    [undefined, 'name: '],
    [null, 'name: '],
    [[], 'body: '],
    [{ name: '' }, 'name: '],
    [{ name: ' ' }, 'name: '],
    [{ name: 'x'.repeat(201) }, 'name: '],
    [{ name: 'a\0b' }, 'name: '],
    [{ name: 'x', scopes: ['admin'] }, 'scopes[0]: '],
    [{ name: 'x', scopes: 'forum:read' }, 'scopes: '],
    [{ name: 'x', scopes: ['forum:read', 'forum:read'] }, 'scopes: '],
    [{ name: 'x', id: 'mine' }, 'id: '],
  ])('refuses %j', async (body, message) => {
    const { apiKey } = await api.account();
    const refused = await api.call(apiKey, 'POST', '/v1/account/keys', body);
    expect([refused.status, messageOf(refused.body)]).toEqual([400, expect.stringContaining(message) as string]);
    expect((await api.call(apiKey, 'GET', '/v1/account/keys')).body.items).toHaveLength(1);
  });

  test('an account has at most 20 active keys, even when 40 are requested at once', async () => {
    const { apiKey } = await api.account();
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, at) => api.call(apiKey, 'POST', '/v1/account/keys', { name: `key ${at}` })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(19);
    expect(messageOf(replies.find(({ status }) => status === 400)!.body)).toContain('20 keys already');
  });
});

describe('deletion', () => {
  let smtp: SmtpReceiver;
  let mailing: TestApi;
  beforeAll(async () => {
    smtp = await startSmtpReceiver();
    const mailer = createMailer({ smtpUrl: smtp.url, from: 'no-reply@example.com', outbox: '' });
    mailing = await startTestApi(db.pool, { mailer });
  });
  afterAll(async () => {
    await mailing.stop();
    await smtp.stop();
  });

  test('needs the address of the account, and mails one notice', async () => {
    const { email, apiKey } = await mailing.account();
    const other = await mailing.account();
    for (const [body, message] of [
      [undefined, 'email: is required'],
      [{}, 'email: is required'],
      [{ email: 7 }, 'email: must be a single string'],
      [{ email: other.email }, 'email: must be the address of this account, as GET /v1/account shows it'],
      [{ email: email.toUpperCase() }, 'email: must be the address of this account, as GET /v1/account shows it'],
      [{ email, sure: true }, 'sure: is not known here'],
    ]) {
      const refused = await mailing.call(apiKey, 'DELETE', '/v1/account', body);
      expect([refused.status, messageOf(refused.body)]).toEqual([400, message]);
    }
    expect(smtp.received).toEqual([]);
    const [name, host] = email.split('@') as [string, string];
    const spelled = { email: `${name}@${host.toUpperCase()}` };
    const replies = await Promise.all([1, 2, 3].map(() => mailing.call(apiKey, 'DELETE', '/v1/account', spelled)));
    expect(replies.some(({ status, body }) => status === 200 && body.status === 'deleted')).toBe(true);
    expect((await mailing.call(apiKey, 'GET', '/v1/account')).status).toBe(401);
    expect(smtp.received).toHaveLength(1);
    const notice = smtp.mailTo(email);
    expect(notice.headers.get('subject')).toEqual(['Your account was deleted']);
    expect(notice.text).toMatch(/account at localhost was deleted at .* UTC,/);
    expect(notice.text.replaceAll(/\s+/g, ' ')).toContain(`at the request of a program that has the API key fk_`);
  });

  test('works for an account whose address is none that mail is sent to', async () => {
    const { accountId, apiKey } = await api.account();
    await db.pool.query("UPDATE accounts SET email = 'demo@localhost' WHERE id = $1", [accountId]);
    expect((await api.call(apiKey, 'DELETE', '/v1/account', { email: 'demo@localhost' })).status).toBe(200);
  });

  test('is done when its notice cannot be mailed', async () => {
    const { email, apiKey } = await api.account();
    expect((await api.call(apiKey, 'DELETE', '/v1/account', { email })).status).toBe(200);
    expect((await api.call(apiKey, 'GET', '/v1/account')).status).toBe(401);
  });
});
