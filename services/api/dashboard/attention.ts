import type { Monitor, MonitorDelivery } from '../../../schemas/api/monitors.ts';
import { readMatchesToday, readReadingCredits } from '../../../shared/accounts/account-overview.ts';
import type { TodaysMatches } from '../../../shared/accounts/account-overview.ts';
import { daysLeft } from '../../../shared/billing/rules/plans.ts';
import { listGaps } from '../../../shared/crawl/crawl-gaps.ts';
import { readDeliveryHealths } from '../../../shared/deliveries/delivery-health.ts';
import { readUnreadCounts } from '../../../shared/matches/match-marks.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { deliveryResource } from '../monitors/find-monitor.ts';
import { answerInWords } from './monitors/monitor-frame.ts';
import type { PageRequest } from './page.ts';
import { ago, notice, number, postButton } from './parts.ts';

const DAY_MS = 86_400_000;
const FEW_DAYS = 3;
const MAX_GAPS = 20;
const MAX_NOTICES = 5;

export interface MonitorState {
  monitor: Monitor;
  /** Undefined without a webhook. */
  delivery: MonitorDelivery | undefined;
  /** Since 00:00 UTC. */
  today: TodaysMatches;
  /** Matches that the owner has not seen, up to `MAX_UNREAD_IN_LISTS`. */
  unread: number;
}

export interface AccountState {
  monitors: MonitorState[];
  limit: number;
  dailyMatchCap: number;
  /** At today's usage; undefined when nothing is used. */
  daysLeft: number | undefined;
  openGaps: number;
}

/** All that the notices are made of, at a cost that the number of monitors bounds. */
export async function readAccountState(pool: Pool, request: PageRequest): Promise<AccountState> {
  const { account, now } = request;
  const list = (await request.read('/v1/monitors')) as { items: Monitor[]; limit: number; daily_match_cap: number };
  const withWebhook = list.items.filter(({ webhook_url: url }) => url !== null);
  const [healths, today, unread, readingCredits, gaps] = await Promise.all([
    readDeliveryHealths(
      pool,
      withWebhook.map(({ id }) => id),
    ),
    readMatchesToday(pool, account.id),
    readUnreadCounts(pool, account.id),
    readReadingCredits(pool, account.id),
    listGaps(pool, { from: now - DAY_MS, to: now, limit: MAX_GAPS }),
  ]);
  const monitors = list.items.map((monitor) => {
    const { id, webhook_url: webhookUrl, webhook_failing: webhookFailing } = monitor;
    const health = healths.get(id);
    return {
      monitor,
      delivery: health && deliveryResource(health, { webhookUrl, webhookFailing }),
      today: today.get(id) ?? { matches: 0, suppressed: 0, notStored: 0 },
      unread: unread.get(id) ?? 0,
    };
  });
  const activeMonitors = list.items.filter(({ status }) => status === 'active').length;
  return {
    monitors,
    limit: list.limit,
    dailyMatchCap: list.daily_match_cap,
    daysLeft: daysLeft({ balance: account.balance, activeMonitors, readingCredits }),
    openGaps: gaps.filter(({ closedAt }) => closedAt === undefined).length,
  };
}

/** What needs the owner's attention, the most urgent first. */
export function attention(request: PageRequest, state: AccountState): HtmlValue {
  const { path } = request;
  const { monitors, daysLeft: days, openGaps } = state;
  const ofMonitors = monitors.flatMap((monitor) => attentionOf(request, monitor, state.dailyMatchCap));
  const paused = monitors.filter(({ monitor }) => monitor.status === 'paused_balance').length;
  const buy = html`<a class="button quiet" href="${path('/billing')}">Buy credits</a>`;
  return [
    paused > 0 &&
      notice(
        'bad',
        `${paused === 1 ? 'One monitor is' : `${number(paused)} monitors are`} paused because the credits ran out.`,
        [buy, html`<span class="note">Then resume ${paused === 1 ? 'it' : 'them'}.</span>`],
      ),
    ...ofMonitors.slice(0, MAX_NOTICES),
    ofMonitors.length > MAX_NOTICES &&
      notice('warn', `${number(ofMonitors.length - MAX_NOTICES)} more monitors need attention.`, [
        html`<a class="button quiet" href="${path('/deliveries')}">All deliveries</a>`,
      ]),
    days !== undefined &&
      days < FEW_DAYS &&
      paused === 0 &&
      notice(
        'warn',
        days < 1
          ? 'Your credits last less than a day. Monitors pause when they run out.'
          : `Your credits last about ${Math.floor(days)} ${days < 2 ? 'day' : 'days'}. Monitors pause when they run out.`,
        buy,
      ),
    openGaps > 0 &&
      notice(
        'warn',
        html`Parts of the forum were not seen in time: ${openGaps === 1 ? 'one gap is' : `${openGaps} gaps are`} being
          recovered. What is found then is matched late, not lost. <a href="${path('/status')}">Status</a>`,
      ),
  ];
}

/** The notices about one monitor; @param isOwnPage leaves out its name and the link to it. */
export function attentionOf(
  request: PageRequest,
  { monitor, delivery, today }: Omit<MonitorState, 'unread'>,
  dailyMatchCap: number,
  isOwnPage = false,
): Html[] {
  const page = `/monitors/${monitor.id}`;
  const name = isOwnPage ? 'this monitor' : html`<a href="${request.path(page)}">${monitor.name}</a>`;
  const notices: Html[] = [];
  if (delivery?.state === 'failing' || (delivery?.state === 'retrying' && delivery.pending > 0)) {
    notices.push(failingWebhook(request, { page, name, delivery }));
  }
  if (monitor.status === 'active' && today.suppressed > 0 && today.matches >= dailyMatchCap) {
    notices.push(
      notice(
        'warn',
        html`The daily cap of ${number(dailyMatchCap)} matches is reached for ${name}. ${number(today.suppressed)} more
        are kept but not sent${today.notStored > 0 && `, and ${number(today.notStored)} beyond those are not stored`}.
        The cap resets at 00:00 UTC.`,
        [
          html`<a class="button quiet" href="${request.path(`${page}/edit`)}">Narrow the rule</a>`,
          request.account.pack === 0 &&
            html`<a class="button quiet" href="${request.path('/billing')}">Raise the cap with a pack</a>`,
        ],
      ),
    );
  }
  return notices;
}

function failingWebhook(
  request: PageRequest,
  { page, name, delivery }: { page: string; name: HtmlValue; delivery: MonitorDelivery },
): Html {
  const { state, pending, last_status: status, last_error: error, last_delivered_at: delivered } = delivery;
  const isFailing = state === 'failing';
  const succeeded =
    delivered === null ? 'It has never succeeded' : html`It last succeeded ${ago(delivered, request.now)}`;
  const waiting = `${number(pending)}${pending >= 1_000 ? ' or more' : ''} ${pending === 1 ? 'match is' : 'matches are'} waiting.`;
  return notice(
    isFailing ? 'bad' : 'warn',
    html`${isFailing ? 'The webhook' : 'The last delivery to the webhook'} of ${name}
    ${isFailing ? 'is failing' : 'failed'}. ${error !== null && `${answerInWords(status ?? 0, error)}.`} ${succeeded}.
    ${pending > 0 && waiting} ${!isFailing && 'They are retried automatically.'}`,
    [
      pending > 0 && sendWaiting(request, page),
      html`<a class="button quiet" href="${request.path(`${page}/deliveries`)}">View deliveries</a>`,
      html`<a class="button quiet" href="${request.path(`${page}/webhook`)}">Test the webhook</a>`,
    ],
  );
}

/** @param page the monitor's, below /dashboard */
export function sendWaiting(request: PageRequest, page: string): Html {
  return postButton(request, {
    action: `${page}/redeliver`,
    label: 'Send waiting matches now',
    fields: { status: 'pending' },
  });
}
