import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { digestEvent, spikeEvent } from '../../../schemas/messages/monitor-event.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { ageMonitor, archiveMatches } from '../../support/fixtures/archived-matches.ts';
import { recordMatches } from '../../support/fixtures/deliveries/digest-jobs.ts';
import { KilledProcesses } from '../../support/fixtures/deliveries/killed-processes.ts';
import type { Death } from '../../support/fixtures/deliveries/killed-processes.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { DASHBOARD_URL, noticedAccount } from '../../support/fixtures/notices/notice-jobs.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const HOUR = 3_600_000;
const WEBHOOK_SECRET = 'whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0';
const SECRET_KEY = 'a secret key of the tests, long enough';
const MATCHES_A_STEP = 3;
/** Three steps are an hour, so that a process that is started anew misses no hour. */
const STEP_MINUTES = 20;
const STEP_MS = 500;
const SPIKE = 12;
/** A receiver thinks so long, so that what kills a deliverer meanwhile kills it in the middle of an attempt. */
const THINKING_MS = 100;

const DEATHS_OF_BILLERS: Death[] = [
  { commit: 1, moment: 'before' },
  { commit: 1, moment: 'after' },
  'from outside',
  { commit: 3, moment: 'after' },
  'from outside',
  { commit: 2, moment: 'before' },
];
const DEATHS_OF_DELIVERERS: Death[] = [
  'from outside',
  { commit: 1, moment: 'before' },
  { commit: 2, moment: 'after' },
  'from outside',
  { commit: 4, moment: 'before' },
  { commit: 1, moment: 'after' },
];

interface Request {
  monitorId: string;
  id: string;
  /** Without the time at which it was sent. */
  body: string;
}

let db: TestDatabase;
let archive: TestArchive;
let smtp: SmtpReceiver;
let receiver: Server;
let requests: Request[];
/** Why signatures were refused. */
let refused: unknown[];
/** Called when a request or a mail has arrived, before it is answered. */
let onRequest: (count: number) => void;
let onMail: (count: number) => void;
const processes: KilledProcesses[] = [];

beforeEach(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  onMail = onRequest = () => undefined;
  requests = [];
  refused = [];
  let mails = 0;
  smtp = await startSmtpReceiver({
    onRcptTo(_address, _session, done) {
      onMail((mails += 1));
      setTimeout(done, THINKING_MS);
    },
  });
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      try {
        new Webhook(WEBHOOK_SECRET).verify(text, request.headers as Record<string, string>);
      } catch (error) {
        refused.push(error);
      }
      const { sent_at: _, ...body } = JSON.parse(text) as Record<string, unknown>;
      const id = String(request.headers['x-service-delivery']);
      const isFirst = requests.every((other) => other.id !== id);
      requests.push({ monitorId: request.url!.slice(1), id, body: JSON.stringify(body) });
      onRequest(requests.length);
      // The first attempt of every third event fails.
      const status = isFirst && requests.length % 3 === 0 ? 503 : 204;
      setTimeout(() => response.writeHead(status).end(), THINKING_MS);
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((pair) => pair.stop()));
  receiver.closeAllConnections();
  receiver.close();
  await smtp.stop();
  await archive.drop();
  await db.drop();
});

/** An account with two monitors that have hourly digests; with a webhook they hear of spikes too. */
async function account(hasWebhook: boolean): Promise<string[]> {
  const { monitorIds } = await noticedAccount(db, { monitors: 2 });
  const box = createSecretBox(SECRET_KEY);
  const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  for (const id of monitorIds) {
    await db.pool.query(
      `UPDATE monitors SET digest = 'hourly', spike_webhook = $2, webhook_url = $3, webhook_kind = $4, webhook_secret = $5
       WHERE id = $1`,
      [
        id,
        hasWebhook,
        hasWebhook ? `${origin}/${id}` : null,
        hasWebhook ? 'generic' : null,
        box.seal(WEBHOOK_SECRET, id),
      ],
    );
    if (hasWebhook) await ageMonitor(db.pool, id, 40);
  }
  return monitorIds;
}

function startProcesses(role: 'biller' | 'deliverer', deaths: readonly Death[]): KilledProcesses {
  const options = {
    role,
    postgresUrl: db.url,
    clickhouseUrl: archive.url,
    smtpUrl: smtp.url,
    secretKey: SECRET_KEY,
    dashboardUrl: DASHBOARD_URL,
  };
  const pair = new KilledProcesses(options, deaths);
  processes.push(pair);
  return pair;
}

async function count(text: string): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${text}`);
  return rows[0]!.n;
}

/** Each event has one id and one content, was delivered and its attempts counted; no match is in two digests. */
async function expectEvents(
  monitorIds: readonly string[],
  recorded: ReadonlyMap<string, string[]>,
  spikes: readonly string[],
): Promise<void> {
  expect(refused).toEqual([]);
  const contents = new Map(requests.map(({ id, body }) => [id, body]));
  for (const { id, body } of requests) expect(body).toBe(contents.get(id));
  const { rows: events } = await db.pool.query<{ id: string; delivery_status: string; attempt: number }>(
    'SELECT id, delivery_status, attempt FROM monitor_events',
  );
  expect([...contents.keys()].sort()).toEqual(events.map(({ id }) => id).sort());
  for (const { id, delivery_status, attempt } of events) {
    const sent = requests.filter((request) => request.id === id).length;
    expect([delivery_status, attempt > 0 && attempt <= sent]).toEqual(['delivered', true]);
  }
  for (const monitorId of monitorIds) {
    const ids = new Set(requests.filter((request) => request.monitorId === monitorId).map(({ id }) => id));
    const bodies = [...ids].map((id) => JSON.parse(contents.get(id)!) as { type: string });
    const digests = bodies.flatMap((body) =>
      body.type === 'monitor.digest' ? [digestEvent.parse({ ...body, sent_at: 0 }).digest] : [],
    );
    const things = digests.flatMap(({ matches }) => matches.map(({ thing_id }) => thing_id));
    expect(things.sort()).toEqual([...recorded.get(monitorId)!].sort());
    const hours = bodies.flatMap((body) =>
      body.type === 'monitor.spike' ? [spikeEvent.parse({ ...body, sent_at: 0 }).spike] : [],
    );
    expect(hours.map(({ at }) => at).sort()).toEqual([...spikes].sort());
    expect(hours.every((spike) => spike.count === SPIKE)).toBe(true);
  }
}

/** Each match is in one mail, which may have been sent again. */
function expectMails(monitorIds: readonly string[], recorded: ReadonlyMap<string, string[]>): void {
  const texts = [...new Set(smtp.received.map(({ text }) => text))];
  const things = texts.flatMap((text) => Array.from(text.matchAll(/metals\/(t1_\w+)/g), ([, id]) => id!));
  expect(things.sort()).toEqual(monitorIds.flatMap((id) => recorded.get(id)!).sort());
}

/** Moves the clock of the service in steps; each hour that begins has a spike of each monitor in the hour before. */
class Time {
  readonly spikes: string[] = [];
  private readonly monitorIds: readonly string[];
  private minutes = 0;

  constructor(monitorIds: readonly string[]) {
    this.monitorIds = monitorIds;
  }

  async step(): Promise<void> {
    this.minutes += STEP_MINUTES;
    await db.setShift(`${this.minutes} minutes`);
  }

  async archiveSpikes(): Promise<void> {
    const seenAt = Math.floor((Date.now() + this.minutes * 60_000) / HOUR) * HOUR - HOUR;
    const at = new Date(seenAt).toISOString();
    if (this.spikes.includes(at)) return;
    this.spikes.push(at);
    const seq = this.spikes.length * 1_000 + 100_000;
    await archiveMatches(
      archive.client,
      this.monitorIds.map((monitorId) => ({ monitorId, seq, count: SPIKE, seenAt })),
    );
  }
}

/** Whether nothing is left to be sent, by anybody, of what was recorded and archived. */
async function isAllSent(spikes: number): Promise<boolean> {
  const open =
    (await count(`monitor_events WHERE delivery_status = 'pending'`)) +
    (await count('digest_mails WHERE outcome IS NULL')) +
    (await count('monitor_digests d JOIN monitor_counters c USING (monitor_id) WHERE c.last_seq > d.after_seq'));
  return open === 0 && (await count(`monitor_events WHERE kind = 'monitor.spike'`)) === spikes;
}

test('billers and deliverers that are killed again and again send each digest and each spike, and none as two', async () => {
  const told = [...(await account(true)), ...(await account(true))];
  const mailed = [...(await account(false)), ...(await account(false))];
  const billers = startProcesses('biller', DEATHS_OF_BILLERS);
  const deliverers = startProcesses('deliverer', DEATHS_OF_DELIVERERS);
  onMail = (mails) => {
    if (mails % 4 === 0) billers.killOne();
  };
  onRequest = (received) => {
    if (received % 5 === 0) deliverers.killOne();
  };

  const time = new Time(told);
  const recorded = new Map<string, string[]>([...told, ...mailed].map((id) => [id, []]));
  const hasFault = () => billers.fault !== undefined || deliverers.fault !== undefined;
  // On a slow machine a start takes longer than an hour of this test.
  const nextStep = async () => {
    await eventually('both roles work', () => (billers.isWorking && deliverers.isWorking) || hasFault());
    await time.step();
    await delay(STEP_MS);
  };
  const recordMore = (id: string) =>
    recordMatches(db.pool, id, MATCHES_A_STEP).then((things) => recorded.get(id)!.push(...things));
  while (!billers.isOver || !deliverers.isOver) {
    await Promise.all([time.archiveSpikes(), ...[...recorded.keys()].map(recordMore)]);
    await nextStep();
  }
  // From here on nothing is killed: what is left over is sent, and so are the digests and spikes of the last hours.
  await eventually(
    'everything is sent',
    async () => {
      if (await isAllSent(time.spikes.length * told.length)) return true;
      await nextStep();
      return false;
    },
    180_000,
  );
  expect([billers, deliverers].map(({ kills, fault }) => [kills, fault])).toEqual([
    [DEATHS_OF_BILLERS.length, undefined],
    [DEATHS_OF_DELIVERERS.length, undefined],
  ]);
  await expectEvents(told, recorded, time.spikes);
  expectMails(mailed, recorded);
});
