import { afterEach, beforeEach, expect, test } from 'vitest';
import { startBiller } from '../../../services/biller/start-biller.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { smtpRefusal, startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import {
  DASHBOARD_URL,
  noticedAccount,
  noticeJobs,
  smtpMailer,
  stopClock,
  SECRET_BOX,
} from '../../support/fixtures/notices/notice-jobs.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let smtp: SmtpReceiver | undefined;
beforeEach(async () => {
  db = await createTestDatabase();
  await stopClock(db);
});
afterEach(async () => {
  await smtp?.stop();
  smtp = undefined;
  await db.drop();
});

async function outcomes(): Promise<Record<string, number>> {
  const { rows } = await db.pool.query<{ outcome: string; count: number }>(
    `SELECT coalesce(outcome, 'waiting') AS outcome, count(*)::int AS count FROM notices GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
}

test('two billers at once mail each of 60 accounts once, and both take part', async () => {
  smtp = await startSmtpReceiver();
  const { received, url } = smtp;
  const pools = [1, 2].map((name) => createPool({ url: db.url, name: `biller-${name}`, logger: silentLogger() }));
  const billers = pools.map((pool) => noticeJobs(pool, url));
  await insertPayingAccounts(db.pool, { accounts: 30, monitors: 2, credits: 0 });
  await billers[0]!.find();
  await insertPayingAccounts(db.pool, { accounts: 30, monitors: 1, credits: 20, dueSince: '-1 hour' });
  await db.freeze('1 minute');
  // Both look for the same causes at the same time, as after a lease was lost.
  await Promise.all(billers.map((biller) => biller.find()));
  await Promise.all(billers.map((biller) => biller.mail()));
  await Promise.all(pools.map((pool) => pool.end()));
  const recipients = received.map((mail) => mail.recipients.join());
  expect([recipients.length, new Set(recipients).size]).toEqual([60, 60]);
  const shares = await Promise.all(
    billers.map(async ({ metrics }) => {
      const { values } = await metrics.notices.get();
      return values.reduce((sum, { value }) => sum + value, 0);
    }),
  );
  expect(shares[0]! + shares[1]!).toBe(60);
  expect(Math.min(...shares)).toBeGreaterThan(0);
  expect(await outcomes()).toEqual({ sent: 60 });
});

test('a mail that the server refuses is sent after 1, 2, 4 … minutes, and what it said is forgotten then', async () => {
  let refuses = true;
  let asked = 0;
  smtp = await startSmtpReceiver({
    onRcptTo(_address, _session, done) {
      asked++;
      if (refuses) done(smtpRefusal(451, 'later'));
      else done();
    },
  });
  await noticedAccount(db, { credits: 5 });
  const biller = noticeJobs(db.pool, smtp.url);
  await biller.find();
  const tries: number[] = [];
  for (let minute = 0; minute < 16; minute++) {
    const before = asked;
    await biller.mail();
    if (asked > before) tries.push(minute);
    await db.freeze('1 minute');
  }
  expect(tries).toEqual([0, 1, 3, 7, 15]);
  refuses = false;
  await db.freeze('15 minutes');
  await biller.mail();
  expect(smtp.received).toHaveLength(1);
  expect((await db.pool.query('SELECT outcome, facts, attempts FROM notices')).rows).toEqual([
    { outcome: 'sent', facts: {}, attempts: 6 },
  ]);
  await db.freeze('1 hour');
  await biller.mail();
  expect(smtp.received).toHaveLength(1);
});

test('a mail whose biller dies before it is settled is sent again after its lease, and not before', async () => {
  smtp = await startSmtpReceiver();
  await noticedAccount(db, { credits: 5 });
  const working = smtpMailer(smtp.url);
  const dying: Mailer = {
    async send(mail) {
      await working.send(mail);
      throw new Error('the process dies here');
    },
  };
  await noticeJobs(db.pool, '', dying).find();
  await expect(noticeJobs(db.pool, '', dying).mail()).rejects.toThrow('dies here');
  const next = noticeJobs(db.pool, smtp.url);
  await next.mail();
  expect(smtp.received).toHaveLength(1);
  await db.freeze('59 seconds');
  await next.mail();
  expect(smtp.received).toHaveLength(1);
  await db.freeze('1 second');
  await next.mail();
  expect(smtp.received).toHaveLength(2);
  expect(await outcomes()).toEqual({ sent: 1 });
});

test('a mail server that never answers stops neither renewals nor the end of the process', async () => {
  let waiting = 0;
  smtp = await startSmtpReceiver({
    onMailFrom() {
      // No answer.
      waiting++;
    },
  });
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  await insertPayingAccounts(db.pool, { accounts: 25, monitors: 1, credits: 20, dueSince: '-1 hour' });
  const unexpected: Error[] = [];
  const logger = silentLogger();
  const mailer = smtpMailer(smtp.url, 1_000);
  const biller = startBiller({
    pool: db.pool,
    kafka: createKafka({ brokers: ['127.0.0.1:9'], clientId: 'test', logger }),
    prefix: '',
    clickhouse: createClickhouse('http://127.0.0.1:9', 'test'),
    mailer,
    dashboardUrl: DASHBOARD_URL,
    secretBox: SECRET_BOX,
    metrics: createMetrics(),
    logger,
    fatal: (error) => void unexpected.push(error),
  });
  await eventually('ten mails wait for the server', () => waiting >= 10);
  await insertPayingAccounts(db.pool, { accounts: 3, monitors: 4, credits: 1_000 });
  await eventually('renewals continue', async () => {
    const { rows } = await db.pool.query(`SELECT FROM monitors WHERE status = 'active' AND period_no = 2`);
    return rows.length === 12;
  });
  await eventually('all were tried, and wait', async () => {
    const { rows } = await db.pool.query('SELECT FROM notices WHERE attempts > 0');
    return rows.length === 25;
  });
  expect(await outcomes()).toEqual({ waiting: 25 });
  await biller.stop();
  expect(unexpected).toEqual([]);
});
