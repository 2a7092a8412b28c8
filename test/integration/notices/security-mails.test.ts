import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { apiKeyId } from '../../../shared/accounts/rules/credentials.ts';
import { createMailer } from '../../../shared/mail/mailer.ts';
import { NOTICE_KINDS, switchOffNotices } from '../../../shared/notices/notices.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let smtp: SmtpReceiver;
let api: TestApi;
beforeAll(async () => {
  db = await createTestDatabase();
  smtp = await startSmtpReceiver();
  const mailer = createMailer({ smtpUrl: smtp.url, from: 'no-reply@example.com', outbox: '' });
  api = await startTestApi(db.pool, { mailer });
});
afterAll(async () => {
  await api.stop();
  await smtp.stop();
  await db.drop();
});

/** The mail with this subject to an address, its text on one line. An answer waits for it for three seconds only. */
function mailTo(email: string, subject: string): Promise<{ text: string; raw: string }> {
  return eventually(`the mail “${subject}”`, () => {
    const { headers, text, raw } = smtp.mailTo(email);
    const line = Buffer.from(text, 'latin1').toString().replaceAll(/\s+/g, ' ');
    return headers.get('subject')![0] === subject && { text: line, raw };
  });
}

describe('a new key', () => {
  test('is told with its first characters, its permissions and the key that created it', async () => {
    const { email, apiKey } = await api.account();
    const reply = await api.call(apiKey, 'POST', '/v1/account/keys', {
      name: '<b>CI</b> https://evil.example',
      scopes: ['forum:read', 'monitors:read'],
    });
    expect(reply.status).toBe(201);
    const { text, raw } = await mailTo(email, 'A new API key for your account');
    const { key, api_key: secret } = reply.body as { key: { id: string }; api_key: string };
    expect(text).toContain(
      'An API key “<b>CI</ b> https: / / evil. example” for your account at localhost was created',
    );
    expect(text).toContain(`by a request with the key fk_${apiKeyId(apiKey)}…. It starts with fk_${key.id}.`);
    expect(raw).not.toContain(secret.slice(11));
  });
});

test('a key is answered and told although PostgreSQL becomes unavailable as soon as it is created', async () => {
  const { email, accountId, apiKey } = await api.account();
  const query = db.pool.query.bind(db.pool) as (...args: unknown[]) => unknown;
  const keysOf = "SELECT count(*)::integer AS keys FROM api_keys WHERE account_id = '";
  const queryUntilThen = async (args: unknown[]): Promise<unknown> => {
    const { rows } = (await query(`${keysOf}${accountId}'`)) as { rows: { keys: number }[] };
    if (rows[0]!.keys > 1) throw new Error('Connection terminated unexpectedly');
    return query(...args);
  };
  const spy = vi.spyOn(db.pool, 'query').mockImplementation((...args: unknown[]): unknown => queryUntilThen(args));
  const reply = await api.call(apiKey, 'POST', '/v1/account/keys', { name: 'ci' });
  spy.mockRestore();
  expect([reply.status, reply.body]).toMatchObject([201, { key: { name: 'ci' } }]);
  await mailTo(email, 'A new API key for your account');
});

test('notices of security are sent to an account that switched all others off', async () => {
  const { accountId, email, apiKey } = await api.account();
  await switchOffNotices(db.pool, accountId, NOTICE_KINDS);
  await api.call(apiKey, 'POST', '/v1/account/keys', { name: 'ci' });
  await mailTo(email, 'A new API key for your account');
  await api.call(apiKey, 'DELETE', '/v1/account', { email });
  await mailTo(email, 'Your account was deleted');
});
