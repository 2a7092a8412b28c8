import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mailNewMatches } from '../../../services/biller/match-mails.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { smtpMailer } from '../../support/fixtures/notices/notice-jobs.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let bench: MonitorPagesBench;
let smtp: SmtpReceiver;
beforeAll(async () => {
  bench = await MonitorPagesBench.create({ http: { trustProxy: 'loopback' } });
  smtp = await startSmtpReceiver();
});
afterAll(async () => {
  await smtp.stop();
  await bench.drop();
});
beforeEach(() => bench.reset());

/** A monitor, and the link in the mail about its first match, at the address where the API of the test listens. */
async function mailedMonitor(): Promise<{ id: string; link: string }> {
  const id = await bench.monitor({ notify: 'email' });
  await bench.record(id);
  await mailNewMatches(
    {
      pool: bench.db.pool,
      mailer: smtpMailer(smtp.url),
      dashboardUrl: bench.api.url,
      secretBox: bench.api.secretBox,
      metrics: createMetrics(),
      logger: silentLogger(),
    },
    new AbortController().signal,
  );
  const [header] = smtp.mailTo(bench.owner.email).headers.get('list-unsubscribe')!;
  return { id, link: /^<(.+)>$/.exec(header!)![1]! };
}

const notifyOf = async (id: string) => {
  const { notify, notify_stopped } = await bench.read(id);
  return [notify, notify_stopped];
};

test('a mail program ends the mails of one monitor with a POST, without a session, once and again', async () => {
  const { id, link } = await mailedMonitor();
  const other = await bench.monitor({ notify: 'email' });
  const form = new FormData();
  form.append('List-Unsubscribe', 'One-Click');
  for (const body of [form, new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })]) {
    const { status } = await fetch(link, { method: 'POST', body, redirect: 'error' });
    expect([status, await notifyOf(id)]).toEqual([200, [undefined, 'unsubscribed']]);
  }
  expect(await notifyOf(other)).toEqual(['email', undefined]);
  expect((await bench.person.get(`/monitors/${id}/webhook`)).html).toContain('the link in one of the mails was used');
  await bench.api.call(bench.owner.apiKey, 'PATCH', `/v1/monitors/${id}`, { notify: 'email' });
  expect(await notifyOf(id)).toEqual(['email', undefined]);
});

test('whoever opens the link gets a page whose button ends them, and a scanner that opens it changes nothing', async () => {
  const { id, link } = await mailedMonitor();
  for (const method of ['GET', 'HEAD']) expect((await fetch(link, { method })).status).toBe(200);
  const page = await fetch(link);
  expect(await page.text()).toContain('<form method="post"><button>Stop these mails</button></form>');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(await notifyOf(id)).toEqual(['email', undefined]);
  const pressed = await fetch(link, { method: 'POST', body: new URLSearchParams() });
  expect([pressed.status, await pressed.text()]).toEqual([200, expect.stringContaining('No more mails') as string]);
  expect(await notifyOf(id)).toEqual([undefined, 'unsubscribed']);
});

test('a link that is cut, changed or of another purpose ends nothing', async () => {
  const { id, link } = await mailedMonitor();
  const address = link.slice(0, link.indexOf('?'));
  const others = [
    address,
    `${address}?link=${id}`,
    link.slice(0, -4),
    link.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
    `${link}&link=x`,
    `${address}?link=${bench.api.secretBox.seal(id, id).toString('base64url')}`,
  ];
  for (const other of others) {
    for (const method of ['GET', 'POST'])
      expect([other, (await fetch(other, { method })).status]).toEqual([other, 400]);
  }
  expect((await fetch(link, { method: 'DELETE' })).status).toBe(405);
  expect(await notifyOf(id)).toEqual(['email', undefined]);
});

test('a deleted monitor has nothing left to end', async () => {
  const { id, link } = await mailedMonitor();
  await bench.api.call(bench.owner.apiKey, 'DELETE', `/v1/monitors/${id}`);
  expect((await fetch(link, { method: 'POST' })).status).toBe(200);
});

test('a network may use links 60 times a minute; those that are none do not count', async () => {
  const { link } = await mailedMonitor();
  const post = (address: string, from: string) =>
    fetch(address, { method: 'POST', headers: { 'X-Forwarded-For': from } });
  for (let time = 0; time < 5; time++) expect((await post(link.slice(0, -4), '203.0.113.7')).status).toBe(400);
  for (let time = 0; time < 60; time++) expect((await post(link, `203.0.113.${time}`)).status).toBe(200);
  const refused = await post(link, '203.0.113.7');
  expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('Too many requests') as string]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await post(link, '198.51.100.7')).status).toBe(200);
});
