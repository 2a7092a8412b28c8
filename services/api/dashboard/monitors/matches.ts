import type { DeliveryStatus } from '../../../../schemas/messages/recorded-match.ts';
import type { MonitorMatch } from '../../../../schemas/messages/monitor-match.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { positionsOfTerm } from '../../../../shared/matching/explain.ts';
import type { Visit } from '../page.ts';
import { postButton, time } from '../parts.ts';

const DELIVERY: Readonly<Record<DeliveryStatus, string>> = {
  none: 'no webhook',
  pending: 'waiting to be delivered',
  delivered: 'delivered',
  failed: 'delivery failed',
  skipped: 'not sent',
};

/** One match in a list. */
export function matchEntry(visit: Visit, match: MonitorMatch): Html {
  const highlights = highlightsOf(match);
  const { id, kind, subreddit, author, title, body, post_id: postId, delivery_status: status } = match;
  const page = `/monitors/${match.monitor_id}`;
  // A backfilled match is not sent unless that was asked for, whether there is a webhook or not.
  const delivery = status === 'none' && match.backfill === true ? 'not sent' : DELIVERY[status];
  const isSettled = status === 'failed' || status === 'delivered' || status === 'skipped';
  const resend = { action: `${page}/redeliver`, label: 'Send again', fields: { match_ids: id } };
  const mute = (of: string, value: string, label: string) =>
    postButton(visit, { action: `${page}/mutes`, label, fields: { kind: of, value } });
  return html`<li id="${id}">
    <h3>${kind === 'comment' && 'Comment on: '}${forumLink(match, markedText(title, highlights.title))}</h3>
    ${body !== '' && html`<p>${markedExcerpt(body, highlights.body)}</p>`}
    <p class="note">
      ${time(match.created_at)} · r/${subreddit} · u/${author} · ${match.matched_terms.join(', ')} ·
      <span class="${status === 'failed' && 'bad'}">${delivery}</span>
      ${match.suppressed && html` · ${suppressedInWords(match)}`} ${match.backfill && ' · found afterwards'}
    </p>
    <div class="actions">
      <a href="${visit.path(`${page}/matches/${id}`)}">Why did this match?</a>
      ${isSettled && postButton(visit, resend)}
      <details>
        <summary>Mute</summary>
        <div class="actions">
          ${mute('subreddit', subreddit, `r/${subreddit}`)}
          ${author !== '[deleted]' && mute('author', author, `u/${author}`)} ${mute('thread', postId, 'this thread')}
        </div>
      </details>
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

/** UTF-16 code units [start, end) of a text. */
export interface TextRange {
  start: number;
  end: number;
}

/** Where the terms of a match occur first in each text, in no order. */
export interface Highlights {
  title: TextRange[];
  body: TextRange[];
}

/** Each is a search of the texts. */
const MOST_TERMS = 50;

/**
 * Where the terms of a match are, also those that only an earlier version of the rule had. In the title of a comment's
 * post are those that the comment has not.
 */
export function highlightsOf(match: MonitorMatch): Highlights {
  const { kind, title, body: text, subreddit, matched_terms: terms } = match;
  const item = { kind, title, text, subreddit, nsfw: false };
  const highlights: Highlights = { title: [], body: [] };
  for (const term of terms.slice(0, MOST_TERMS)) {
    const positions = positionsOfTerm(term, item);
    const [body, others] = [true, false].map((isBody) =>
      positions.filter(({ field }) => (field === 'text') === isBody),
    );
    highlights.body.push(...body!);
    if (kind === 'post' || body!.length === 0) highlights.title.push(...others!);
  }
  return highlights;
}

/** How many code units of a text are shown before its first mark, and how many in all. */
const BEFORE = 120;
const LENGTH = 400;

/** The text, escaped, with the ranges marked. Ranges may overlap and be in any order. */
export function markedText(text: string, ranges: readonly TextRange[]): Html {
  let position = 0;
  const parts: Html[] = [];
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    const from = Math.max(start, position);
    if (end <= from) continue;
    parts.push(html`${text.slice(position, from)}<mark>${text.slice(from, end)}</mark>`);
    position = end;
  }
  return html`${parts}${text.slice(position)}`;
}

/** The part of a text around its first range, marked. */
export function markedExcerpt(text: string, ranges: readonly TextRange[]): Html {
  const first = Math.min(text.length, ...ranges.map(({ start }) => start));
  const start = first === text.length || first <= BEFORE ? 0 : wholeCharacter(text, first - BEFORE);
  const end = text.length - start <= LENGTH ? text.length : wholeCharacter(text, start + LENGTH);
  const within = ranges.map((range) => ({ start: range.start - start, end: Math.min(range.end, end) - start }));
  return html`${start > 0 && '… '}${markedText(text.slice(start, end), within)}${end < text.length && ' …'}`;
}

/** The position, or the one before it where it would cut a character of two code units. */
function wholeCharacter(text: string, position: number): number {
  const isInside = /[\uDC00-\uDFFF]/.test(text.charAt(position));
  return isInside ? position - 1 : position;
}
