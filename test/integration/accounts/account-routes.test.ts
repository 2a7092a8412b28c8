import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import { charge, credit } from '../../../shared/billing/ledger.ts';
import { createMailer } from '../../../shared/mail/mailer.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Body, TestApi, Reply, TestAccount } from '../../support/fixtures/test-api.ts';
import { KEYS_PER_ACCOUNT } from '../../../shared/accounts/idempotency-keys.ts';

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
      expect([more.status, messageOf(more.body)]).toEqual([
        403,
        `scopes: this key does not have ${lacking}, so it cannot grant that.`,
      ]);
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
    [{ name: '' }, 'name: '],
    [{ name: 'x'.repeat(201) }, 'name: '],
    [{ name: 'a\0b' }, 'name: '],
    [{ name: 'x', scopes: ['admin'] }, 'scopes[0]: '],
    [{ name: 'x', scopes: ['forum:read', 'forum:read'] }, 'scopes: '],
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
    expect(messageOf(replies.find(({ status }) => status === 400)!.body)).toContain('already has 20 keys');
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
      [{ email, sure: true }, 'sure: is not recognized'],
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
    expect(notice.text.replaceAll(/\s+/g, ' ')).toContain(`by a request with the API key fk_`);
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

describe('an Idempotency-Key', () => {
  const BODY = { name: 'a monitor', keywords: ['rust'] };

  const create = ({ apiKey }: TestAccount, key: string, body: unknown = BODY): Promise<Reply> =>
    api.call(apiKey, 'POST', '/v1/monitors', body, { 'idempotency-key': key });

  const resume = ({ apiKey }: TestAccount, id: string): Promise<Reply> =>
    api.call(apiKey, 'POST', `/v1/monitors/${id}/resume`, undefined, { 'idempotency-key': 'r' });

  const codeOf = ({ body }: Reply) => (body.error as { code: string } | undefined)?.code;

  const ledgerOf = async ({ apiKey }: TestAccount) =>
    ((await api.call(apiKey, 'GET', '/v1/account/ledger')).body.items as { kind: string }[]).map(({ kind }) => kind);

  test('a repeated create gets the first answer, including the secret, and is free', async () => {
    const account = await api.account({ credits: 100 });
    const first = await create(account, 'one');
    const again = await create(account, 'one');
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect([first.headers.get('x-credits-used'), again.headers.get('x-credits-used')]).toEqual(['10', '0']);
    expect(again.headers.get('x-credits-remaining')).toBe('90');
    expect(await ledgerOf(account)).toEqual(['monitor_create', 'grant']);
    expect((await create(account, 'two')).body).not.toEqual(first.body);
  });

  test('20 concurrent creates with one key make one monitor and get equal answers, also when the plan allows one monitor', async () => {
    const account = await api.account({ credits: 100, pack: 0 });
    const replies = await Promise.all(Array.from({ length: 20 }, () => create(account, 'race')));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies[0]!.status).toBe(201);
    expect(replies.filter(({ headers }) => headers.get('x-credits-used') === '10')).toHaveLength(1);
    expect(await ledgerOf(account)).toEqual(['monitor_create', 'grant']);
  });

  test('another body is a conflict; another account, route or day is another request', async () => {
    const account = await api.account();
    const first = await create(account, 'k');
    const conflict = await create(account, 'k', { ...BODY, name: 'another' });
    expect([conflict.status, codeOf(conflict)]).toEqual([409, 'idempotency_conflict']);
    const stranger = await create(await api.account(), 'k');
    expect([stranger.status, stranger.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect((stranger.body.monitor as { id: string }).id).not.toBe((first.body.monitor as { id: string }).id);
    await db.setShift('24 hours');
    const later = await create(account, 'k', { ...BODY, name: 'another' });
    await db.setShift('0');
    expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([201, null]);
  });

  test('an account with very many keys waits until the oldest ends; a repeat is still answered', async () => {
    const account = await api.account({ credits: 100 });
    const first = await create(account, 'first');
    await db.pool.query(
      `INSERT INTO idempotency_keys (account_id, route, key, body_hash, answer, created_at)
       SELECT $1, 'r', n, '', '', service_now() + n * interval '1 second' FROM generate_series(1, $2::int) AS n`,
      [account.accountId, KEYS_PER_ACCOUNT - 1],
    );
    const refused = await create(account, 'one-too-many');
    expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000);
    expect((await create(account, 'first')).body).toEqual(first.body);
    expect((await api.call(account.apiKey, 'POST', '/v1/monitors', BODY)).status).toBe(201);
    await db.pool.query('DELETE FROM idempotency_keys WHERE account_id = $1 AND key = $2', [account.accountId, '1']);
    expect((await create(account, 'one-too-many')).status).toBe(201);
  });

  test('refusals are not stored: the same request may be sent again', async () => {
    const account = await api.account({ credits: 5 });
    expect(codeOf(await create(account, 'k'))).toBe('insufficient_credits');
    await db.pool.query(`UPDATE accounts SET balance = 50 WHERE id = $1`, [account.accountId]);
    expect((await create(account, 'k')).status).toBe(201);
    expect(codeOf(await create(account, 'bad', { name: '' }))).toBe('invalid_request');
    expect((await create(account, 'bad')).status).toBe(201);
  });

  test('repeated resumes with one key pay for one period', async () => {
    const account = await api.account({ credits: 100 });
    const { id } = await api.monitor(account.apiKey);
    await api.call(account.apiKey, 'POST', `/v1/monitors/${id}/pause`);
    const first = await resume(account, id);
    await api.call(account.apiKey, 'POST', `/v1/monitors/${id}/pause`);
    const again = await resume(account, id);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect([first.headers.get('x-credits-used'), again.headers.get('x-credits-used')]).toEqual(['10', '0']);
    const { body } = await api.call(account.apiKey, 'GET', `/v1/monitors/${id}`);
    expect(body.monitor).toMatchObject({ status: 'paused' });
    expect(await ledgerOf(account)).toEqual(['monitor_resume', 'monitor_create', 'grant']);
  });

  test.each(['', ' ', 'a b', 'x'.repeat(256), 'ü'])('refuses the key %j', async (key) => {
    const account = await api.account();
    const reply = await create(account, key);
    expect([reply.status, (reply.body.error as { message: string }).message]).toEqual([
      400,
      expect.stringMatching('^Idempotency-Key: must') as string,
    ]);
    expect(await ledgerOf(account)).toEqual(['grant']);
  });

  test('stored answers cannot be read in the database', async () => {
    const account = await api.account();
    const { body } = await create(account, 'sealed');
    const { rows } = await db.pool.query<{ text: string }>(
      `SELECT encode(answer, 'escape') AS text FROM idempotency_keys WHERE account_id = $1`,
      [account.accountId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.text).not.toContain((body.webhook_secret as string).slice(6));
    expect(rows[0]!.text).not.toContain('rust');
  });

  test('a body with other whitespace or member order counts as equal; one with another list order does not', async () => {
    const account = await api.account();
    const first = await create(account, 'k', '{"name":"n","keywords":["rust","go"]}');
    const again = await create(account, 'k', '{ "keywords": ["rust", "go"],\n "name": "n" }');
    expect([again.status, again.headers.get('idempotency-replayed'), again.text]).toEqual([201, 'true', first.text]);
    const other = await create(account, 'k', '{"name":"n","keywords":["go","rust"]}');
    expect(codeOf(other)).toBe('idempotency_conflict');
    // The body as sent counts: a default that a later version changes must not turn a repeat into another request.
    const written = await create(account, 'k', '{"name":"n","keywords":["rust","go"],"exclude":[]}');
    expect(codeOf(written)).toBe('idempotency_conflict');
    const proto = await create(account, 'k', '{"__proto__":{},"name":"n","keywords":["rust","go"]}');
    expect(codeOf(proto)).toBe('invalid_request');
  });

  test('a repeat for a monitor deleted since gets the first answer and is free', async () => {
    const account = await api.account({ credits: 20 });
    const first = await create(account, 'k', { name: 'n', keywords: ['rust'] });
    const { id } = first.body.monitor as { id: string };
    await api.call(account.apiKey, 'DELETE', `/v1/monitors/${id}`);
    expect((await create(account, 'k', { name: 'n', keywords: ['rust'] })).text).toBe(first.text);
    expect(codeOf(await resume(account, id))).toBe('not_found');
    expect(await ledgerOf(account)).toEqual(['monitor_create', 'grant']);
  });
});
