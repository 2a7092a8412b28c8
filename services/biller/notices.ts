import { daysLeft, MONITOR_PERIOD_CREDITS } from '../../shared/billing/rules/plans.ts';
import type { Mail } from '../../shared/mail/mailer.ts';
import { mailTime, plainMail, quotedName, wrapLines } from '../../shared/mail/plain-mail.ts';
import {
  claimNotice,
  closeAlarms,
  countWaitingNotices,
  listCausedNotices,
  listDueAlarms,
  openAlarms,
  postponeAlarms,
  postponeCauses,
  readCreditUses,
  readFailingWebhooks,
  readPausedMonitors,
  readRunning,
  readSwitchedOff,
  takeCauses,
} from '../../shared/notices/notices.ts';
import type { CausedNotice, DueAlarm, FailingWebhook, NoticeFacts } from '../../shared/notices/notices.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sendMails } from './mail-outbox.ts';
import type { MailingDeps } from './mail-outbox.ts';

/** Limits of a run, so that it is short. */
const CAUSED_PER_RUN = 100;
const ALARMS_PER_RUN = 200;
const ACCOUNTS_PER_RUN = 500;
/** The first mail is sent after this many failures in a row; a deliverer marks the webhook at 50. */
const LEAST_FAILURES = 10;
/** Attempts are stored this long; an older alarm could not end. */
const ATTEMPT_DAYS = 30;
const LOW_DAYS = 3;
/** All balances are checked this often, or as often as 500 accounts a run allow. */
const BALANCES_MS = 10 * 60_000;
const MOST_COUNTED = 1_000;

/**
 * A run looks for notices. It costs four short statements when nothing has changed, and one more for each 500 accounts
 * whose balances it checks.
 */
export function createNoticeJob({ pool, metrics }: { pool: Pool; metrics: Metrics }): () => Promise<void> {
  let position = '';
  let balancesAt = Number.NEGATIVE_INFINITY;
  return async () => {
    metrics.noticesWaiting.set(await countWaitingNotices(pool, MOST_COUNTED));
    await findCausedNotices(pool);
    await findRecoveries(pool);
    const now = performance.now();
    if (position === '' && now - balancesAt < BALANCES_MS) return;
    if (position === '') balancesAt = now;
    position = (await findLowBalances(pool, position)) ?? '';
  };
}

/**
 * Turns causes that triggers recorded into notices. Each account's is one transaction: it takes the causes, reads what
 * is still so, and stores the mail. When the account had a mail of the kind today, the causes wait for the next UTC
 * day. A crash leaves the causes or the notice, never both and never neither.
 *
 * @returns how many were due
 */
export async function findCausedNotices(pool: Pool): Promise<number> {
  const caused = await listCausedNotices(pool, CAUSED_PER_RUN);
  for (const notice of caused) await inTransaction(pool, (client) => resolveCauses(client, notice));
  return caused.length;
}

async function resolveCauses(db: Queryable, caused: CausedNotice): Promise<void> {
  const { accountId, kind } = caused;
  const monitorIds = await takeCauses(db, caused);
  if (monitorIds.length === 0) return;
  if ((await readSwitchedOff(db, accountId)).includes(kind)) return;
  const facts = await factsOf(db, caused, monitorIds);
  if (facts !== undefined && !(await claimNotice(db, accountId, facts))) await postponeCauses(db, caused, monitorIds);
}

/** Undefined when nothing of it is true any more. */
async function factsOf(
  db: Queryable,
  { accountId, kind }: CausedNotice,
  monitorIds: readonly string[],
): Promise<NoticeFacts | undefined> {
  if (kind === 'webhook_failing') {
    const webhooks = await readFailingWebhooks(db, monitorIds, LEAST_FAILURES);
    return webhooks.length === 0 ? undefined : { kind, webhooks };
  }
  const monitors = await readPausedMonitors(db, monitorIds);
  return monitors.length === 0 ? undefined : { kind, monitors, ...(await readRunning(db, accountId)) };
}

/** Stores notices of webhooks that work again, for owners who were told that they fail. */
export async function findRecoveries(pool: Pool): Promise<void> {
  const alarms = await listDueAlarms(pool, ATTEMPT_DAYS, ALARMS_PER_RUN);
  if (alarms.length === 0) return;
  const idsOf = (state: DueAlarm['state']) => alarms.filter((alarm) => alarm.state === state).map(({ id }) => id);
  await closeAlarms(pool, idsOf('over'));
  await postponeAlarms(pool, idsOf('failing'));
  const recovered = alarms.filter(({ state }) => state === 'recovered');
  for (const [accountId, webhooks] of Map.groupBy(recovered, (alarm) => alarm.accountId)) {
    await inTransaction(pool, (client) => resolveAlarms(client, accountId, webhooks));
  }
}

async function resolveAlarms(db: Queryable, accountId: string, alarms: readonly DueAlarm[]): Promise<void> {
  const kind = 'webhook_recovered';
  const ids = alarms.map(({ id }) => id);
  const webhooks = alarms.map(({ id, name, isMarked }) => ({ id, name, isMarked }));
  const isUnwanted = (await readSwitchedOff(db, accountId)).includes(kind);
  if (isUnwanted || (await claimNotice(db, accountId, { kind, webhooks }))) await closeAlarms(db, ids);
  else await postponeAlarms(db, ids);
}

/**
 * Stores notices of accounts, after a given id, whose credits last less than three days.
 *
 * @returns the last id that was checked; undefined when no more accounts follow
 */
export async function findLowBalances(pool: Pool, afterId: string): Promise<string | undefined> {
  const { uses, lastId } = await readCreditUses(pool, afterId, ACCOUNTS_PER_RUN);
  for (const { accountId, ...use } of uses) {
    if ((daysLeft(use) ?? LOW_DAYS) < LOW_DAYS) await claimNotice(pool, accountId, { kind: 'low_balance', ...use });
  }
  return lastId;
}

/** The content of a mail is out of date after a day. */
const EXPIRY_SECONDS = 24 * 3_600;

/** Mails notices that wait, as `sendMails`. */
export function mailNotices(deps: MailingDeps, signal: AbortSignal): Promise<number> {
  const { pool, dashboardUrl } = deps;
  return sendMails<NoticeFacts>(
    deps,
    {
      outbox: 'notices',
      expirySeconds: EXPIRY_SECONDS,
      kindOf: ({ kind }) => kind,
      async compose({ accountId, content: facts, madeAt }, to) {
        const isSwitchedOff = (await readSwitchedOff(pool, accountId)).includes(facts.kind);
        return isSwitchedOff ? undefined : noticeMail(facts, { to, foundAt: madeAt, dashboardUrl });
      },
      // The owner is told later that these webhooks work again, and only when this was sent.
      async onSent(db, { accountId, content }) {
        if (content.kind !== 'webhook_failing') return;
        await openAlarms(db, accountId, content.webhooks.map(({ id }) => id).sort());
      },
    },
    signal,
  );
}

/** Monitors that a mail names; of more it says how many. */
const NAMED_MONITORS = 20;

type Facts<Kind extends NoticeFacts['kind']> = Extract<NoticeFacts, { kind: Kind }>;

/** A part of a mail: its own lines, or a text to be broken into lines. */
type Paragraph = string | readonly string[];

interface Words {
  subject: string;
  paragraphs: Paragraph[];
}

interface NoticeMailing {
  to: string;
  foundAt: Date;
  /** Without a trailing slash. */
  dashboardUrl: string;
}

/** The mail of a notice: what happened and when, what to do, where, and how to get no more of its kind. */
function noticeMail(facts: NoticeFacts, { to, foundAt, dashboardUrl }: NoticeMailing): Mail {
  const place = { host: new URL(dashboardUrl).host, at: mailTime(foundAt), pages: `${dashboardUrl}/dashboard` };
  const { subject, paragraphs } = wordsOf(facts, place);
  const end: Paragraph[] = [
    'At most one mail of this kind is sent a day. To turn these mails off, sign in:',
    [`${place.pages}/account`],
  ];
  const lines = [...paragraphs, ...end].map((part) => (typeof part === 'string' ? wrapLines(part) : part));
  return plainMail(to, subject, lines);
}

interface Place {
  host: string;
  at: string;
  pages: string;
}

function wordsOf(facts: NoticeFacts, place: Place): Words {
  switch (facts.kind) {
    case 'low_balance':
      return lowBalance(facts, place);
    case 'monitor_paused':
      return monitorsPaused(facts, place);
    case 'webhook_failing':
      return webhooksFailing(facts, place);
    case 'webhook_recovered':
      return webhooksRecovered(facts, place);
  }
}

function lowBalance(facts: Facts<'low_balance'>, { host, at, pages }: Place): Words {
  const { balance, activeMonitors, readingCredits } = facts;
  const reading = readingCredits > 0 ? `, and reading used ${readingCredits} in the last 24 hours` : '';
  return {
    subject: 'Your credits will run out soon',
    paragraphs: [
      `At ${at}, your account at ${host} had ${credits(balance)}. At today's usage, they last ${lasting(daysLeft(facts) ?? 0)}: ${running(activeMonitors)} ${MONITOR_PERIOD_CREDITS * activeMonitors} credits a day${reading}.`,
      'When the balance no longer covers a monitor, it is paused at its next renewal. It misses everything posted until you resume it.',
      'Add credits, or pause monitors that you do not need:',
      [`${pages}/billing`],
    ],
  };
}

function monitorsPaused(facts: Facts<'monitor_paused'>, { host, at, pages }: Place): Words {
  const { monitors, balance, activeMonitors } = facts;
  const many = monitors.length > 1;
  const others =
    activeMonitors > 0
      ? ` ${activeMonitors === 1 ? 'Another monitor is still running and will be' : `${activeMonitors} other monitors are still running and will be`} paused at the next renewal that the balance does not cover.`
      : '';
  return {
    subject: many ? `${monitors.length} monitors were paused` : 'A monitor was paused',
    paragraphs: [
      `By ${at}, ${many ? 'these monitors' : 'this monitor'} of your account at ${host} ${many ? 'were' : 'was'} paused, because the balance of ${credits(balance)} did not cover the next 24 hours (${MONITOR_PERIOD_CREDITS} credits each):`,
      listed(monitors),
      `While a monitor is paused, it finds nothing.${others}`,
      `Add credits, then resume ${many ? 'the monitors' : 'the monitor'}:`,
      [`${pages}/billing`],
      [`${pages}/monitors`],
    ],
  };
}

function webhooksFailing({ webhooks }: Facts<'webhook_failing'>, { host, at, pages }: Place): Words {
  const marked = webhooks.some(({ isMarked }) => isMarked);
  return {
    subject: webhooks.length > 1 ? `${webhooks.length} webhooks are failing` : 'A webhook is failing',
    paragraphs: [
      `At ${at}, deliveries from your account at ${host} to ${webhooks.length > 1 ? 'these webhooks' : 'this webhook'} were failing:`,
      listed(webhooks, failure),
      'The monitors keep matching, and each new match is still sent. Matches whose delivery failed stay in your account for 30 days, and you can resend them.',
      ...(marked
        ? [
            'After 50 failures in a row, a webhook is marked as failing until a test delivery succeeds or its URL is changed.',
          ]
        : []),
      'Check the receiver, then send it a test delivery:',
      ...links(webhooks, pages),
    ],
  };
}

function webhooksRecovered({ webhooks }: Facts<'webhook_recovered'>, { host, at, pages }: Place): Words {
  const many = webhooks.length > 1;
  const marked = webhooks.some(({ isMarked }) => isMarked);
  return {
    subject: many ? `${webhooks.length} webhooks work again` : 'A webhook works again',
    paragraphs: [
      `As of ${at}, ${many ? 'these webhooks' : 'this webhook'} of your account at ${host} ${many ? 'accept' : 'accepts'} deliveries again:`,
      listed(webhooks),
      ...(marked ? ['The webhook stays marked as failing until a test delivery succeeds or the URL is changed.'] : []),
      'You can resend the matches that could not be delivered:',
      ...links(webhooks, pages),
    ],
  };
}

function failure({ failures, host, status, error }: FailingWebhook): string {
  const count = `${failures} failures in a row`;
  if (host === null) return `${count}.`;
  // An error that is not a status is one of our own words, such as timeout or connection_refused.
  const answer = status !== null && status > 0 ? `responded with ${status}` : `did not respond (${error ?? 'unknown'})`;
  return `${count}; the last time ${host} ${answer}.`;
}

function links(monitors: readonly { id: string }[], pages: string): Paragraph[] {
  return [[monitors.length === 1 ? `${pages}/monitors/${monitors[0]!.id}` : `${pages}/monitors`]];
}

/** A line for each monitor, and indented below it what is said of it. */
function listed<M extends { name: string }>(monitors: readonly M[], detail?: (monitor: M) => string): string[] {
  const lines = monitors.slice(0, NAMED_MONITORS).flatMap((monitor) => {
    const details = detail === undefined ? [] : wrapLines(detail(monitor)).map((line) => `  ${line}`);
    return [`- ${quotedName(monitor.name)}`, ...details];
  });
  const others = monitors.length - NAMED_MONITORS;
  return others > 0 ? [...lines, `- and ${others} more`] : lines;
}

function credits(count: number): string {
  return count === 1 ? '1 credit' : `${count} credits`;
}

function running(monitors: number): string {
  return monitors === 1 ? 'one running monitor uses' : `${monitors} running monitors use`;
}

function lasting(days: number): string {
  if (days >= 1) return `about ${days.toFixed(1).replace(/\.0$/, '')} ${days < 1.05 ? 'day' : 'days'}`;
  const hours = Math.floor(days * 24);
  return hours < 1 ? 'less than an hour' : `about ${hours} ${hours === 1 ? 'hour' : 'hours'}`;
}
