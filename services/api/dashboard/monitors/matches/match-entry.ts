import type { DeliveryStatus } from '../../../../../schemas/messages/recorded-match.ts';
import type { MonitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { html } from '../../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../../shared/html/html.ts';
import type { Visit } from '../../page-route.ts';
import { postButton } from '../../parts/post-button.ts';
import { time } from '../../parts/time.ts';
import { markedExcerpt, markedText } from './marked-text.ts';
import type { Highlights } from './match-highlights.ts';

const DELIVERY: Readonly<Record<DeliveryStatus, string>> = {
  none: 'no webhook',
  pending: 'waiting to be delivered',
  delivered: 'delivered',
  failed: 'delivery failed',
  skipped: 'not sent',
};

/** A backfilled match is not sent unless that was asked for, whether there is a webhook or not. */
function deliveryOf({ delivery_status: status, backfill }: MonitorMatch): string {
  return status === 'none' && backfill === true ? 'not sent' : DELIVERY[status];
}

/** The id of a match's element on a page. */
export const entryId = (match: Pick<MonitorMatch, 'id'>): string => match.id;

/** One match in a list. */
export function matchEntry(visit: Visit, match: MonitorMatch, highlights: Highlights): Html {
  const { id, monitor_id: monitorId, kind, subreddit, author, title, body } = match;
  const page = `/monitors/${monitorId}`;
  return html`<li id="${entryId(match)}">
    <h3>${kind === 'comment' && 'Comment on: '}${forumLink(match, markedText(title, highlights.title))}</h3>
    ${body !== '' && html`<p>${markedExcerpt(body, highlights.body)}</p>`}
    <p class="note">
      ${time(match.created_at)} · r/${subreddit} · u/${author} · ${match.matched_terms.join(', ')} ·
      <span class="${match.delivery_status === 'failed' && 'bad'}">${deliveryOf(match)}</span>
      ${match.suppressed && html` · ${suppressedInWords(match)}`} ${match.backfill && ' · found afterwards'}
    </p>
    <div class="actions">
      <a href="${visit.path(`${page}/matches/${id}`)}">Why did this match?</a>
      ${resendButton(visit, match)} ${muteButtons(visit, match)}
    </div>
  </li>`;
}

/** Why a match was kept but not sent. */
export function suppressedInWords({ suppressed_reason: reason }: MonitorMatch): string {
  return reason === 'thread_once' ? 'its thread had a match that day' : 'over the daily cap';
}

/** A link to the forum. Addresses of other kinds are not linked. */
export function forumLink({ permalink }: Pick<MonitorMatch, 'permalink'>, text: HtmlValue): HtmlValue {
  if (!/^https?:\/\//i.test(permalink)) return text;
  return html`<a href="${permalink}" rel="noopener noreferrer nofollow">${text}</a>`;
}

/** The states from which a match can be sent again. */
function resendButton(visit: Visit, { id, monitor_id: monitorId, delivery_status: status }: MonitorMatch): HtmlValue {
  const isSettled = status === 'failed' || status === 'delivered' || status === 'skipped';
  return (
    isSettled &&
    postButton(visit, {
      action: `/monitors/${monitorId}/redeliver`,
      label: 'Send again',
      fields: { match_ids: id },
    })
  );
}

function muteButtons(visit: Visit, match: MonitorMatch): Html {
  const { monitor_id: monitorId, subreddit, author, post_id: postId } = match;
  const mute = (kind: string, value: string, label: string) =>
    postButton(visit, { action: `/monitors/${monitorId}/mutes`, label, fields: { kind, value } });
  return html`<details>
    <summary>Mute</summary>
    <div class="actions">
      ${mute('subreddit', subreddit, `r/${subreddit}`)}
      ${author !== '[deleted]' && mute('author', author, `u/${author}`)} ${mute('thread', postId, 'this thread')}
    </div>
  </details>`;
}
