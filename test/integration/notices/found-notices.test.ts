import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeAccount } from '../../../shared/accounts/close-account.ts';
import { charge } from '../../../shared/billing/ledger.ts';
import { switchOffNotices } from '../../../shared/notices/notices.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import {
  DASHBOARD_URL,
  noticedAccount,
  noticeJobs,
  setFailures,
  stopClock,
} from '../../support/fixtures/notices/notice-jobs.ts';
import type { NoticeJobs } from '../../support/fixtures/notices/notice-jobs.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let smtp: SmtpReceiver;
beforeAll(async () => {
  smtp = await startSmtpReceiver();
});
afterAll(() => smtp.stop());

let db: TestDatabase;
let biller: NoticeJobs;
beforeEach(async () => {
  db = await createTestDatabase();
  await stopClock(db);
  biller = noticeJobs(db.pool, smtp.url);
  smtp.received.length = 0;
});
afterEach(() => db.drop());

/** One run of everything, a minute after what happened. Returns the subjects that arrived. */
async function runAll(later = '1 minute'): Promise<string[]> {
  const before = smtp.received.length;
  await biller.find();
  await db.freeze(later);
  await biller.find();
  await biller.mail();
  return subjects(before);
}

function subjects(from = 0): string[] {
  return smtp.received.slice(from).map(({ headers }) => headers.get('subject')![0]!);
}

/** Mails are read byte by byte. */
function decoded(text: string): string {
  return Buffer.from(text, 'latin1').toString();
}

function read(email: string): string {
  return decoded(smtp.mailTo(email).text).replaceAll('\n', ' ').replaceAll(/ +/g, ' ');
}

describe('monitors paused for lack of credits', () => {
  test('are named in one mail, with the time, what to do, the pages and how to switch it off', async () => {
    const account = await noticedAccount(db, { monitors: 3, credits: 10, dueSince: '1 minute' });
    await db.pool.query('UPDATE monitors SET name = $2 WHERE id = $1', [
      account.monitorIds[1],
      'Rust <b>jobs</b>\nhttps://evil.example/x sales@evil.example',
    ]);
    expect(await runAll()).toEqual(['2 monitors were paused']);
    const mail = smtp.mailTo(account.email);
    const text = read(account.email);
    expect(text).toContain('“Rust <b>jobs</ b> https: / / evil. example/ x sales @ evil.…”');
    for (const page of ['billing', 'monitors', 'account']) {
      expect(mail.text).toContain(`\n${DASHBOARD_URL}/dashboard/${page}\n`);
      expect(mail.html).toContain(`<a href="${DASHBOARD_URL}/dashboard/${page}">`);
    }
    expect(decoded(mail.html)).toContain('“Rust &lt;b&gt;jobs&lt;/ b&gt; https: / / evil. example/ x sales @ evil.…”');
    expect(mail.html.match(/href="[^"]*"/g)).toHaveLength(3);
  });

  test('later on the same UTC day wait for the next one, unless they run again by then', async () => {
    const account = await noticedAccount(db, { monitors: 3, credits: 0 });
    const due = (id: string) =>
      db.pool.query(`UPDATE monitors SET next_charge_at = service_now() - interval '1 second' WHERE id = $1`, [id]);
    const [first, second, third] = account.monitorIds as [string, string, string];
    await due(first);
    expect(await runAll()).toEqual(['A monitor was paused']);
    await due(second);
    await due(third);
    expect(await runAll('2 hours')).toEqual([]);
    await db.pool.query(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [third]);
    expect(await runAll('9 hours')).toEqual([]);
    // 23:01, and then one minute after midnight.
    expect(await runAll('1 hour')).toEqual(['A monitor was paused']);
  });
});

describe('failing webhooks', () => {
  test('are told after 10 failures and, on another day, at 50, and that they work again', async () => {
    const { email, monitorIds } = await noticedAccount(db, {});
    const id = monitorIds[0]!;
    await setFailures(db, id, 9);
    expect(await runAll()).toEqual([]);
    await setFailures(db, id, 10);
    expect(await runAll()).toEqual(['A webhook is failing']);
    expect(read(email)).toContain('“test” 10 failures in a row; the last time hooks.example.net responded with 503.');
    expect(smtp.mailTo(email).text).toContain(`\n${DASHBOARD_URL}/dashboard/monitors/${id}\n`);
    await setFailures(db, id, 50);
    expect(await runAll('2 hours')).toEqual([]);
    expect(await runAll('10 hours')).toEqual(['A webhook is failing']);
    expect(await runAll('2 minutes')).toEqual([]);
    await setFailures(db, id, 0);
    expect(await runAll('2 minutes')).toEqual(['A webhook works again']);
    expect(await runAll('1 day')).toEqual([]);
  });

  test('of removed webhooks and deleted monitors are forgotten', async () => {
    const { monitorIds } = await noticedAccount(db, { monitors: 2 });
    for (const id of monitorIds) await setFailures(db, id, 10);
    expect(await runAll()).toEqual(['2 webhooks are failing']);
    await db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [monitorIds[0]]);
    await db.pool.query('UPDATE monitors SET webhook_url = NULL, webhook_kind = NULL WHERE id = $1', [monitorIds[1]]);
    expect(await runAll('2 minutes')).toEqual([]);
    expect((await db.pool.query('SELECT FROM webhook_alarms')).rowCount).toBe(0);
  });
});

describe('credits that last less than 3 days', () => {
  test.each([
    [{ credits: 29 }, 1],
    [{ credits: 30 }, 0],
    [{ credits: 60, monitors: 2 }, 0],
    [{ credits: 59, monitors: 2 }, 1],
    [{ credits: 0, monitors: 0 }, 0],
    [{ credits: 0, status: 'paused' }, 0],
  ])('with %j: %i mails', async (setup, count) => {
    await noticedAccount(db, setup);
    expect(await runAll()).toHaveLength(count);
  });

  test('by what reading took in the last 24 hours', async () => {
    const { accountId } = await noticedAccount(db, { credits: 1_000 });
    const request = { requestId: 'r', route: 'GET /v1/forum/search', keyId: undefined };
    // Midday: half of yesterday counts.
    await db.freeze('-1 day');
    await charge(db.pool, { accountId, kind: 'read', credits: 200, reference: 'a', request });
    await db.freeze('1 day');
    expect(await runAll()).toEqual([]);
    await charge(db.pool, { accountId, kind: 'read', credits: 100, reference: 'b', request });
    expect(await runAll()).toEqual([]);
    // 699 credits are left; each day takes 10 and 100 + 101 (200 · 12 h / 24 h, rounded) and 23.
    await charge(db.pool, { accountId, kind: 'read', credits: 22, reference: 'c', request });
    expect(await runAll()).toEqual(['Your credits will run out soon']);
  });

  test('are told once a UTC day', async () => {
    await noticedAccount(db, { credits: 25 });
    expect(await runAll()).toHaveLength(1);
    expect(await runAll('11 hours 57 minutes')).toHaveLength(0);
    // 23:59, and then midnight.
    expect(await runAll('1 minute')).toHaveLength(0);
    expect(await runAll('1 minute')).toHaveLength(1);
  });
});

describe('who is not told', () => {
  test('an account that switched the kind off, before or after it was found', async () => {
    const early = await noticedAccount(db, { credits: 0, dueSince: '1 minute' });
    const late = await noticedAccount(db, { credits: 0, dueSince: '1 minute' });
    const other = await noticedAccount(db, { credits: 0, dueSince: '1 minute' });
    await switchOffNotices(db.pool, early.accountId, ['monitor_paused']);
    await switchOffNotices(db.pool, other.accountId, ['low_balance', 'webhook_failing', 'webhook_recovered']);
    await biller.find();
    await db.freeze('1 minute');
    await biller.find();
    await switchOffNotices(db.pool, late.accountId, ['monitor_paused']);
    await biller.mail();
    expect(smtp.received.map(({ recipients }) => recipients)).toEqual([[other.email]]);
    await db.freeze('1 day');
    await biller.find();
    await biller.mail();
    expect(smtp.received).toHaveLength(1);
  });

  test('a deleted account, and nothing of its notices stays', async () => {
    const { accountId, monitorIds } = await noticedAccount(db, { monitors: 3, credits: 0, dueSince: '1 minute' });
    await setFailures(db, monitorIds[0]!, 10);
    await switchOffNotices(db.pool, accountId, ['webhook_recovered']);
    await biller.find();
    await db.freeze('1 minute');
    await biller.find();
    await setFailures(db, monitorIds[1]!, 10);
    await closeAccount(db.pool, accountId, { mailboxHash: Buffer.from('hash') });
    await biller.mail();
    expect(smtp.received).toEqual([]);
    const { rows } = await db.pool.query(
      `SELECT (SELECT count(*) FROM notices) AS notices, (SELECT count(*) FROM notice_causes) AS causes,
         (SELECT count(*) FROM webhook_alarms) AS alarms, (SELECT count(*) FROM notice_opt_outs) AS choices`,
    );
    expect(rows).toEqual([{ notices: 0, causes: 0, alarms: 0, choices: 0 }]);
  });
});
