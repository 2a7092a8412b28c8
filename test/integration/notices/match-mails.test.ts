import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { mailNewMatches } from '../../../services/biller/match-mails.ts';
import { startBiller } from '../../../services/biller/start-biller.ts';
import { freezeAccount, unfreezeAccount } from '../../../shared/accounts/close-account.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import { makeMatchMails } from '../../../shared/notices/match-mails.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { smtpRefusal, startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { recordMatches } from '../../support/fixtures/deliveries/digest-jobs.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import {
  DASHBOARD_URL,
  noticedAccount,
  SECRET_BOX,
  smtpMailer,
  stopClock,
} from '../../support/fixtures/notices/notice-jobs.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** The replies to RCPT TO for an address; none: it is accepted. */
const refused = new Map<string, Error>();
let smtp: SmtpReceiver;
beforeAll(async () => {
  smtp = await startSmtpReceiver({ onRcptTo: ({ address }, _session, done) => done(refused.get(address)) });
});
afterAll(() => smtp.stop());

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  await stopClock(db);
  smtp.received.length = 0;
  refused.clear();
});
afterEach(() => db.drop());

const metrics = createMetrics();

/** A biller makes and mails what is due some time later; returns how many mails came. */
async function run(later = '0', mailer: Mailer = smtpMailer(smtp.url)): Promise<number> {
  const before = smtp.received.length;
  await db.freeze(later);
  const deps = { pool: db.pool, mailer, dashboardUrl: DASHBOARD_URL, secretBox: SECRET_BOX };
  const { signal } = new AbortController();
  while ((await mailNewMatches({ ...deps, metrics, logger: silentLogger() }, signal)) > 0);
  return smtp.received.length - before;
}

/** The things that a mail lists, in their order. */
const listed = (mail: number): string[] =>
  Array.from(smtp.received.at(mail)!.text.matchAll(/metals\/(t1_\w+)/g), ([, id]) => id!);
/** The subject is one encoded word, because of its quotation marks. */
const subject = (mail: number): string =>
  decodeURIComponent(
    /^=\?UTF-8\?Q\?(.+)\?=$/
      .exec(smtp.received.at(mail)!.headers.get('subject')![0]!)![1]!
      .replaceAll('_', ' ')
      .replaceAll('=', '%'),
  );

const setNotify = (ids: readonly string[], notify: 'email' | null = 'email') =>
  db.pool.query('UPDATE monitors SET notify = $2 WHERE id = ANY ($1)', [ids, notify]);
const setStatus = (id: string, status: string) =>
  db.pool.query('UPDATE monitors SET status = $2 WHERE id = $1', [id, status]);

async function monitor(): Promise<{ id: string; email: string; accountId: string }> {
  const { accountId, email, monitorIds } = await noticedAccount(db, {});
  await setNotify(monitorIds);
  return { id: monitorIds[0]!, email, accountId };
}

test('the first match is mailed at once, and those of the next five minutes in one mail', async () => {
  const { id, email } = await monitor();
  expect(await run()).toBe(0);
  const first = await recordMatches(db.pool, id, 1);
  expect(await run()).toBe(1);
  expect(listed(0)).toEqual(first);
  const { headers, recipients, text } = smtp.received[0]!;
  expect([recipients, subject(0)]).toEqual([[email], '1 new match of “test”']);
  expect(headers.get('list-unsubscribe-post')).toEqual(['List-Unsubscribe=One-Click']);
  const [link] = /https:.*unsubscribe\S+/.exec(text)!;
  expect(headers.get('list-unsubscribe')).toEqual([`<${link}>`]);
  expect(text).toContain(`\n${DASHBOARD_URL}/dashboard/monitors/${id}\n`);

  const second = await recordMatches(db.pool, id, 1);
  expect(await run('2 seconds')).toBe(0);
  const later = await recordMatches(db.pool, id, 24);
  expect(await run('297 seconds')).toBe(0);
  expect(await run('1 second')).toBe(1);
  expect(listed(1)).toEqual([...second, ...later].slice(0, 20));
  expect(subject(1)).toBe('25 new matches of “test”');
  expect(smtp.received[1]!.text).toContain('and 5 more on the page of the monitor:');
  expect(await run('10 minutes')).toBe(0);
  expect(await recordMatches(db.pool, id, 1).then(() => run())).toBe(1);
});

test('switching it off and on again brings no mail sooner, and nothing that was recorded meanwhile', async () => {
  const { id } = await monitor();
  await recordMatches(db.pool, id, 1);
  expect(await run()).toBe(1);
  await setNotify([id], null);
  await recordMatches(db.pool, id, 1);
  expect(await run('10 seconds')).toBe(0);
  await setNotify([id]);
  const next = await recordMatches(db.pool, id, 1);
  expect(await run('10 seconds')).toBe(0);
  expect(await run('280 seconds')).toBe(1);
  expect(listed(1)).toEqual(next);
});

test('suppressed and backfilled matches make no mail, and do not hold back the next match', async () => {
  const { id } = await monitor();
  // All matches are in one thread.
  await db.pool.query('UPDATE monitors SET thread_once = true WHERE id = $1', [id]);
  const first = await recordMatches(db.pool, id, 2);
  expect(await run()).toBe(1);
  expect([listed(0), subject(0)]).toEqual([first.slice(0, 1), '1 new match of “test”']);
  await recordMatches(db.pool, id, 3);
  expect(await run('1 hour')).toBe(0);
  await db.pool.query('UPDATE monitors SET thread_once = false WHERE id = $1', [id]);
  const [backfilled] = await recordMatches(db.pool, id, 1);
  await db.pool.query('UPDATE matches SET backfill = true WHERE thing_id = $1', [backfilled]);
  expect(await run('1 hour')).toBe(0);
  const next = await recordMatches(db.pool, id, 1);
  expect(await run()).toBe(1);
  expect(listed(1)).toEqual(next);
});

test('it begins with the first match after it was switched on, and ends with the last one before', async () => {
  const { monitorIds, email } = await noticedAccount(db, { monitors: 2 });
  const [id, other] = monitorIds as [string, string];
  await recordMatches(db.pool, id, 1);
  await setNotify([id]);
  expect(await run()).toBe(0);
  await recordMatches(db.pool, other, 1);
  const first = await recordMatches(db.pool, id, 1);
  await db.pool.query(`UPDATE accounts SET email = 'new@example.com' WHERE email = $1`, [email]);
  expect(await run()).toBe(1);
  expect([listed(0), smtp.received[0]!.recipients]).toEqual([first, ['new@example.com']]);
  await recordMatches(db.pool, id, 1);
  await setNotify([id], null);
  expect(await run('1 hour')).toBe(0);
  await setNotify([id]);
  const last = await recordMatches(db.pool, id, 1);
  expect(await run()).toBe(1);
  expect(listed(1)).toEqual(last);
});

test('no mail for a paused or deleted monitor or a frozen account, also of one that waits; later nothing is lost', async () => {
  const { id, accountId } = await monitor();
  const things = await recordMatches(db.pool, id, 1);
  expect(await run('0', smtpMailer('smtp://127.0.0.1:9'))).toBe(0);
  await setStatus(id, 'paused');
  expect(await run('1 hour')).toBe(0);
  await setStatus(id, 'active');
  await db.pool.query(`UPDATE accounts SET status = 'frozen' WHERE id = $1`, [accountId]);
  expect(await run('1 hour')).toBe(0);
  await db.pool.query(`UPDATE accounts SET status = 'active' WHERE id = $1`, [accountId]);
  expect(await run()).toBe(1);
  expect(listed(0)).toEqual(things);

  await recordMatches(db.pool, id, 1);
  await freezeAccount(db.pool, accountId);
  await unfreezeAccount(db.pool, accountId);
  expect(await run('1 hour')).toBe(0);
  await setStatus(id, 'deleted');
  expect(await run('1 hour')).toBe(0);
  const { rows } = await db.pool.query('SELECT FROM match_mails');
  expect(rows).toEqual([]);
});

test('a biller that dies after sending repeats that mail after its lease, and nothing else', async () => {
  const { id } = await monitor();
  const first = await recordMatches(db.pool, id, 2);
  const working = smtpMailer(smtp.url);
  const dying: Mailer = {
    async send(mail) {
      await working.send(mail);
      throw new Error('the process dies here');
    },
  };
  await expect(run('0', dying)).rejects.toThrow('dies here');
  const second = await recordMatches(db.pool, id, 1);
  expect(await run('59 seconds')).toBe(0);
  expect(await run('1 second')).toBe(1);
  expect([listed(0), listed(1)]).toEqual([first, first]);
  expect(await run('299 seconds')).toBe(0);
  expect(await run('1 second')).toBe(1);
  expect(listed(2)).toEqual(second);
  expect(await run('1 day')).toBe(0);
});

test('a mailbox that takes no mail ends it; what the server refuses for a while or for another reason is retried', async () => {
  const [bounced, full, relayed] = [await monitor(), await monitor(), await monitor()];
  refused.set(bounced.email, smtpRefusal(550, '5.1.1 no such user'));
  refused.set(full.email, smtpRefusal(452, '4.2.2 mailbox full'));
  refused.set(relayed.email, smtpRefusal(550, '5.7.1 relaying denied'));
  for (const { id } of [bounced, full, relayed]) await recordMatches(db.pool, id, 1);
  expect(await run()).toBe(0);
  const { rows } = await db.pool.query<{ id: string; notify: unknown; notify_stopped: unknown }>(
    'SELECT id, notify, notify_stopped FROM monitors',
  );
  expect(new Map(rows.map(({ id, ...stored }) => [id, stored]))).toEqual(
    new Map([
      [bounced.id, { notify: null, notify_stopped: 'bounced' }],
      [full.id, { notify: 'email', notify_stopped: null }],
      [relayed.id, { notify: 'email', notify_stopped: null }],
    ]),
  );
  refused.clear();
  expect(await run('1 minute')).toBe(2);
  await recordMatches(db.pool, bounced.id, 1);
  expect(await run('1 hour')).toBe(0);
});

test('a running biller mails a match within seconds', async () => {
  const { id, email } = await monitor();
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  const unexpected: Error[] = [];
  const logger = silentLogger();
  const biller = startBiller({
    pool: db.pool,
    kafka: createKafka({ brokers: ['127.0.0.1:9'], clientId: 'test', logger }),
    prefix: '',
    clickhouse: createClickhouse('http://127.0.0.1:9', 'test'),
    mailer: smtpMailer(smtp.url),
    dashboardUrl: DASHBOARD_URL,
    secretBox: SECRET_BOX,
    metrics: createMetrics(),
    logger,
    fatal: (error) => void unexpected.push(error),
  });
  const things = await recordMatches(db.pool, id, 1);
  await eventually('the mail comes', () => smtp.received.length > 0);
  await biller.stop();
  expect([smtp.mailTo(email), listed(0), unexpected]).toEqual([smtp.received[0], things, []]);
});

test('an account gets at most five mails in five minutes: who waits longest comes first, and nothing is lost', async () => {
  const { monitorIds, email } = await noticedAccount(db, { monitors: 7 });
  await setNotify(monitorIds);
  const { id: other } = await monitor();
  const recordEach = async () => (await Promise.all(monitorIds.map((id) => recordMatches(db.pool, id, 1)))).flat();
  const things = await recordEach();
  await recordMatches(db.pool, other, 1);
  expect(await run()).toBe(6);
  const mailed = () => smtp.received.flatMap((mail, at) => (mail.recipients[0] === email ? listed(at) : []));
  expect(mailed()).toHaveLength(5);
  const left = things.filter((thing) => !mailed().includes(thing));
  things.push(...(await recordEach()));
  expect(await run('299 seconds')).toBe(0);
  expect(await run('1 second')).toBe(5);
  expect(mailed()).toEqual(expect.arrayContaining(left));
  expect(await run('5 minutes')).toBe(2);
  expect(await run('1 day')).toBe(0);
  expect(mailed().sort()).toEqual(things.sort());
});

test('billers beside each other while matches are recorded mail each match once', async () => {
  const { monitorIds } = await noticedAccount(db, { monitors: 3 });
  await setNotify(monitorIds);
  const recorded: string[] = [];
  for (let round = 0; round < 4; round++) {
    await db.freeze('5 minutes');
    await Promise.all([
      ...monitorIds.map(async (id) => recorded.push(...(await recordMatches(db.pool, id, 4)))),
      ...[1, 2, 3].map(() => run()),
    ]);
  }
  await run('5 minutes');
  expect(smtp.received.flatMap((_, mail) => listed(mail)).sort()).toEqual(recorded.sort());
});

test('a biller whose commit is slow and another one make five mails of an account together', async () => {
  const { monitorIds } = await noticedAccount(db, { monitors: 6 });
  await setNotify(monitorIds);
  for (const id of monitorIds.slice(3)) await recordMatches(db.pool, id, 1);
  await inTransaction(db.pool, async (slow) => {
    expect(await makeMatchMails(slow, 100)).toBe(3);
    for (const id of monitorIds.slice(0, 3)) await recordMatches(db.pool, id, 1);
    expect(await run()).toBe(0);
  });
  expect(await run()).toBe(5);
  expect(await run('5 minutes')).toBe(1);
});
