import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeDigests } from '../../../services/biller/digests.ts';
import { freezeAccount, unfreezeAccount } from '../../../shared/accounts/close-account.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { digestJobs, recordMatches } from '../../support/fixtures/deliveries/digest-jobs.ts';
import type { DigestJobs } from '../../support/fixtures/deliveries/digest-jobs.ts';
import { DASHBOARD_URL, noticedAccount, smtpMailer, stopClock } from '../../support/fixtures/notices/notice-jobs.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let smtp: SmtpReceiver;
beforeAll(async () => {
  smtp = await startSmtpReceiver();
});
afterAll(() => smtp.stop());

let db: TestDatabase;
let biller: DigestJobs;
beforeEach(async () => {
  db = await createTestDatabase();
  await stopClock(db, '2026-03-04T12:20:00Z');
  biller = digestJobs(db.pool, smtpMailer(smtp.url));
  smtp.received.length = 0;
});
afterEach(() => db.drop());

const setDigest = (id: string, digest: 'hourly' | 'daily' | null) =>
  db.pool.query('UPDATE monitors SET digest = $2 WHERE id = $1', [id, digest]);

/** Makes and mails what is due some time later; returns how many mails came. */
async function runAll(later = '0 minutes', jobs = biller): Promise<number> {
  const before = smtp.received.length;
  await db.freeze(later);
  await jobs.make();
  await jobs.mail();
  return smtp.received.length - before;
}

/** The things that the mails list, in their order. */
const listed = (from = 0): string[] =>
  smtp.received.slice(from).flatMap(({ text }) => Array.from(text.matchAll(/metals\/(t1_\w+)/g), ([, id]) => id!));

async function deliveriesOf(monitorId: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ first_delivery: string }>(
    'SELECT first_delivery FROM matches WHERE monitor_id = $1 ORDER BY seq',
    [monitorId],
  );
  return rows.map((row) => row.first_delivery);
}

test('one mail an account at the full hour names each match of its monitors once', async () => {
  const account = await noticedAccount(db, { monitors: 3 });
  const [first, second, third] = account.monitorIds as [string, string, string];
  await db.pool.query(`UPDATE monitors SET name = 'Metal & <b>co' WHERE id = $1`, [first]);
  await setDigest(first, 'hourly');
  await setDigest(second, 'hourly');
  await setDigest(third, 'daily');
  const expected = [...(await recordMatches(db.pool, first, 3)), ...(await recordMatches(db.pool, second, 2))];
  const ofDay = await recordMatches(db.pool, third, 1);
  expect(await runAll('39 minutes')).toBe(0);
  expect(await runAll('1 minute')).toBe(1);
  expect(listed()).toHaveLength(5);
  expect(listed().sort()).toEqual(expected.sort());
  const mail = smtp.mailTo(account.email);
  expect(mail.headers.get('subject')).toEqual(['5 new matches in 2 monitors']);
  expect(mail.headers.get('list-unsubscribe')).toEqual([`<${DASHBOARD_URL}/dashboard/monitors>`]);
  expect(mail.text).toContain(`\n${DASHBOARD_URL}/dashboard/monitors/${first}\n`);
  expect(Buffer.from(mail.html, 'latin1').toString()).toContain('“Metal &amp; &lt;b&gt;co” (hourly): 3 new matches.');
  expect(await runAll()).toBe(0);
  expect(await runAll('1 hour')).toBe(0);
  const later = await recordMatches(db.pool, second, 1);
  expect(await runAll('10 hours')).toBe(1);
  expect(listed(1).sort()).toEqual([...ofDay, ...later].sort());
  expect(smtp.received[1]!.headers.get('subject')).toEqual(['2 new matches in 2 monitors']);
  expect((await biller.metrics.digestsMade.get()).values.map(({ labels, value }) => [labels.to, value])).toEqual([
    ['mail', 4],
    // Of both hourly ones after an hour without matches, and of the first one after the ten hours.
    ['nobody', 3],
  ]);
});

test('suppressed and backfilled matches are left out, and removed ones are blank', async () => {
  const { monitorIds, email } = await noticedAccount(db, {});
  const id = monitorIds[0]!;
  await setDigest(id, 'hourly');
  const [suppressed, backfilled, removed, kept] = await recordMatches(db.pool, id, 4);
  await db.pool.query('UPDATE matches SET suppressed = true WHERE thing_id = $1', [suppressed]);
  await db.pool.query('UPDATE matches SET backfill = true WHERE thing_id = $1', [backfilled]);
  await db.freeze('40 minutes');
  await biller.make();
  await db.pool.query(`UPDATE matched_items SET title = '[removed]', body = '' WHERE thing_id = $1`, [removed]);
  await biller.mail();
  expect(listed()).toEqual([removed, kept]);
  expect(smtp.mailTo(email).headers.get('subject')).toEqual(['2 new matches']);
  expect(smtp.mailTo(email).text).not.toContain(`About ${removed!}`);
  expect(smtp.mailTo(email).text).toContain(`About ${kept!}`);
});

test('what is matched around a switch between single deliveries and digests is sent once, one way', async () => {
  const { monitorIds } = await noticedAccount(db, {});
  const id = monitorIds[0]!;
  const setWebhook = (url: string | null) =>
    db.pool.query(`UPDATE monitors SET webhook_url = $2, webhook_kind = $3 WHERE id = $1`, [
      id,
      url,
      url === null ? null : 'generic',
    ]);
  await setWebhook('https://hooks.example.net/');
  await recordMatches(db.pool, id, 2);
  await setDigest(id, 'hourly');
  const first = await recordMatches(db.pool, id, 2);
  await setDigest(id, null);
  await recordMatches(db.pool, id, 1);
  await setDigest(id, 'daily');
  const second = await recordMatches(db.pool, id, 1);
  await setDigest(id, 'hourly');
  const third = await recordMatches(db.pool, id, 1);
  expect(await deliveriesOf(id)).toEqual(['pending', 'pending', 'none', 'none', 'pending', 'none', 'none']);
  await setWebhook(null);
  // The digest that was switched off does not wait for the hour.
  expect(await runAll()).toBe(1);
  expect(listed()).toEqual(first);
  expect(await runAll('1 hour')).toBe(1);
  expect(listed(1)).toEqual([...second, ...third]);
  await setDigest(id, null);
  expect(await runAll('1 day')).toBe(0);
});

test('a paused monitor has its last digest; a deleted one has none; a frozen account waits', async () => {
  const { accountId, monitorIds } = await noticedAccount(db, { monitors: 2 });
  const [paused, deleted] = monitorIds as [string, string];
  for (const id of monitorIds) await setDigest(id, 'hourly');
  const things = await recordMatches(db.pool, paused, 1);
  await recordMatches(db.pool, deleted, 1);
  await db.pool.query(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [paused]);
  await db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [deleted]);
  await freezeAccount(db.pool, accountId);
  expect(await runAll('1 hour')).toBe(0);
  await unfreezeAccount(db.pool, accountId);
  expect(await runAll()).toBe(1);
  expect(listed()).toEqual(things);
  const { rows } = await db.pool.query('SELECT FROM monitor_digests WHERE monitor_id = $1', [deleted]);
  expect(rows).toEqual([]);
});

test('while the mail server is unavailable one mail waits, and later matches go into the next', async () => {
  const { monitorIds } = await noticedAccount(db, {});
  const id = monitorIds[0]!;
  await setDigest(id, 'hourly');
  const first = await recordMatches(db.pool, id, 2);
  const unavailable = digestJobs(db.pool, smtpMailer('smtp://127.0.0.1:9'));
  expect(await runAll('1 hour', unavailable)).toBe(0);
  const second = await recordMatches(db.pool, id, 1);
  expect(await runAll('1 hour', unavailable)).toBe(0);
  const third = await recordMatches(db.pool, id, 1);
  expect(await runAll('1 hour', unavailable)).toBe(0);
  const { rows } = await db.pool.query('SELECT FROM digest_mails');
  expect(rows).toHaveLength(1);
  expect(await runAll('1 hour')).toBe(1);
  expect(listed()).toEqual(first);
  expect(await runAll()).toBe(1);
  expect(listed(1)).toEqual([...second, ...third]);
});

test('a mail whose lease ends while a slow database is read is sent by the process that has it then', async () => {
  const { monitorIds } = await noticedAccount(db, { monitors: 2 });
  for (const id of monitorIds) {
    await setDigest(id, 'hourly');
    await recordMatches(db.pool, id, 1);
  }
  await db.freeze('1 hour');
  await biller.make();
  let isSlow = true;
  const query = async (statement: { name?: string }, ...values: unknown[]): Promise<unknown> => {
    const answer: unknown = await (db.pool.query as (...given: unknown[]) => Promise<unknown>)(statement, ...values);
    if (statement.name === 'digests-read-matches' && isSlow) {
      isSlow = false;
      await db.freeze('61 seconds');
      await biller.mail();
    }
    return answer;
  };
  const slow = new Proxy(db.pool, {
    get: (pool, property): unknown => (property === 'query' ? query : Reflect.get(pool, property, pool)),
  });
  await digestJobs(slow, smtpMailer(smtp.url)).mail();
  expect(isSlow).toBe(false);
  expect(smtp.received).toHaveLength(1);
});

test('processes that make digests while matches are recorded lose none and repeat none', async () => {
  const { accountId, monitorIds } = await noticedAccount(db, { monitors: 2 });
  for (const id of monitorIds) await setDigest(id, 'hourly');
  const recorded: string[] = [];
  const others = [biller, digestJobs(db.pool, smtpMailer(smtp.url))];
  for (let hour = 0; hour < 4; hour++) {
    await db.freeze('1 hour');
    await Promise.all([
      ...monitorIds.map(async (id) => recorded.push(...(await recordMatches(db.pool, id, 5)))),
      ...others.map(() => makeDigests({ pool: db.pool, dashboardUrl: DASHBOARD_URL }, accountId)),
      ...others.map((process) => process.mail()),
    ]);
  }
  await runAll('1 hour');
  await runAll('1 hour');
  expect(listed().sort()).toEqual(recorded.sort());
});
