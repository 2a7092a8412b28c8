import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import {
  askMcp,
  newEmail,
  publish,
  startOAuthInstallation,
  tokensFor,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;
beforeAll(async () => {
  at = await startOAuthInstallation();
});
afterAll(() => at.stop());

async function visitorOf(email: string) {
  return visitDashboard(at.db.pool, at.apis[0].url, (await findAccount(at.db.pool, email))!.id);
}

test('connected programs are shown with host and permissions in words, and disconnected at once', async () => {
  const email = newEmail();
  const client = publish(at, { client_name: '<b>Notebook</b>' });
  const { access: token } = await tokensFor(at, client, email);
  const person = await visitorOf(email);
  const list = await person.get('/programs');
  expect(list.html).toContain('&lt;b&gt;Notebook&lt;/b&gt;');
  expect(list.html).toContain(`Of ${new URL(client).host}`);
  expect(list.html).toContain('Read and search the forum with your credits');
  expect(list.html).toContain('never used');
  expect((await askMcp(at, token, 'tools/call')).status).toBe(200);
  expect((await person.get('/programs')).html).toContain('s ago</time>');
  const action = /action="[^"]*(\/programs\/gra_[0-9a-f]{24}\/revoke)"/.exec(list.html)![1]!;
  const stranger = newEmail();
  await tokensFor(at, client, stranger);
  expect((await (await visitorOf(stranger)).post(action)).status).toBe(404);
  expect((await askMcp(at, token)).status).toBe(200);
  const done = await person.post(action);
  expect([done.status, done.location]).toEqual([
    303,
    expect.stringMatching(/\/dashboard\/programs\?done=disconnected$/),
  ]);
  expect((await askMcp(at, token)).status).toBe(401);
  const after = await person.get('/programs?done=disconnected');
  expect(after.html).toContain('The program was disconnected.');
  expect(after.html).toContain('No program is connected.');
});
