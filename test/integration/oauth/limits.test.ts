import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOAuthLimits } from '../../../services/api/oauth/oauth-limits.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import {
  authorizationUrl,
  newEmail,
  newPkce,
  publish,
  signIn,
  startOAuthInstallation,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;

beforeAll(async () => {
  at = await startOAuthInstallation();
});
afterAll(() => at.stop());
beforeEach(() => at.reset());

/** The state after `most` uses just now. */
async function useUp(name: string, most: number): Promise<void> {
  await at.db.pool.query(
    `INSERT INTO recent_uses (name, times, kept_until)
     SELECT $1, array_agg(service_now()), service_now() + interval '1 hour' FROM generate_series(1, $2)`,
    [name, most],
  );
}

test('a decision that is sent again and again makes 40 grants and mails a day', async () => {
  const email = newEmail();
  const browser = new Browser(at.fetch);
  const { url } = await browser.open(authorizationUrl(at, publish(at), newPkce()));
  await signIn(at, browser, email);
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  // Its redirect, which would end the sign-in, is not followed.
  const allow = () =>
    at.fetch(`${url.href}/decision`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ decision: 'allow' }),
      redirect: 'manual',
    });
  const before = at.smtp.received.length;
  for (let n = 0; n < 40; n++) expect((await allow()).status).toBe(303);
  const refused = await allow();
  expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('connect 40 programs a day.')]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
  const { id } = (await findAccount(at.db.pool, email))!;
  const grants = await at.db.pool.query(`SELECT FROM oauth_records WHERE account_id = $1 AND model = 'Grant'`, [id]);
  expect(grants.rowCount).toBe(40);
  await eventually('a mail for each', () => at.smtp.received.length - before === 40);
});

describe('the budget of sign-in', () => {
  const askOnPage = async () => {
    const browser = new Browser(at.fetch);
    await browser.open(authorizationUrl(at, publish(at), newPkce()));
    return browser.submit('/address', { email: newEmail() });
  };

  test('is not affected by a flood of sign-ups', async () => {
    await useUp('signup:total', 500);
    await useUp('signup:network:hour:127.0.0.0/24', 20);
    const refused = await at.apis[0].call(undefined, 'POST', '/api/agent/signup', { email: newEmail() });
    expect(refused.status).toBe(429);
    const page = await askOnPage();
    expect([page.status, page.html]).toEqual([200, expect.stringContaining('Enter the code')]);
  });

  test('is limited too, with Retry-After', async () => {
    await useUp('signin:total', 500);
    const page = await askOnPage();
    expect([page.status, page.html]).toEqual([503, expect.stringContaining('Too many sign in now.')]);
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(3_500);
    const signUp = await at.apis[0].call(undefined, 'POST', '/api/agent/signup', { email: newEmail() });
    expect(signUp.status).toBe(200);
  });
});

test('reloading the page of a sign-in fetches no document, however old the copy is', async () => {
  const client = publish(at);
  const browser = new Browser(at.fetch);
  const { url, html } = await browser.open(authorizationUrl(at, client, newPkce()));
  expect([html.includes('Notebook'), at.asked.get(client)]).toEqual([true, 1]);
  at.sites.delete(new URL(client).host);
  await at.db.pool.query(`UPDATE oauth_records SET written_at = written_at - interval '2 hours'
                          WHERE model = 'ClientDocument'`);
  for (let n = 0; n < 3; n++) expect((await browser.open(url)).html).toBe(html);
  expect(at.asked.get(client)).toBe(1);
  await at.db.pool.query(`DELETE FROM oauth_records WHERE model = 'ClientDocument'`);
  expect((await browser.open(url)).status).toBe(400);
  expect(at.asked.get(client)).toBe(1);
});

test('one IPv6 site cannot use up the registrations of all', async () => {
  const app = express();
  app.set('trust proxy', true);
  app.post('/register', createOAuthLimits(at.db.pool)('registration'), (_request, response) => {
    response.sendStatus(201);
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/register`;
    const register = async (address: string) =>
      (await fetch(url, { method: 'POST', headers: { 'x-forwarded-for': address } })).status;
    const ofSite = await Promise.all(
      Array.from({ length: 600 }, (_, each) => register(`2001:db8:1:${(each * 100).toString(16)}::1`)),
    );
    expect(ofSite.filter((status) => status === 201)).toHaveLength(240);
    expect(await register('192.0.2.1')).toBe(201);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
