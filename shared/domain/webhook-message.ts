import type { WebhookKind } from '../../schemas/monitor.ts';
import type { MonitorMatch } from '../../schemas/monitor-match.ts';
import type { WebhookEvent } from '../../schemas/webhook-event.ts';
import { signatureHeaders } from './webhook-signature.ts';

export interface WebhookMessageInput {
  kind: WebhookKind;
  monitor: { id: string; name: string };
  match: MonitorMatch;
  /** The current secret first; see signatureHeaders. */
  secrets: readonly [string, ...string[]];
  /** Milliseconds since the epoch. */
  now: number;
}

export interface WebhookMessage {
  headers: Record<string, string>;
  body: Buffer;
}

/** Discord refuses content of more than 2,000 characters; a title and a permalink stay below it with this. */
const CHAT_TEXT_LIMIT = 600;

/** The HTTP request that tells a receiver of one match: JSON for a generic endpoint, one message for a chat product. */
export function buildWebhookMessage(input: WebhookMessageInput): WebhookMessage {
  switch (input.kind) {
    case 'generic':
      return genericMessage(input);
    case 'slack':
      return chatMessage({ text: chatText(input.match, escapeSlack) });
    case 'discord':
      return chatMessage({ content: chatText(input.match, escapeDiscord), allowed_mentions: { parse: [] } });
  }
}

function genericMessage({ monitor, match, secrets, now }: WebhookMessageInput): WebhookMessage {
  const sentAt = Math.floor(now / 1000);
  const event: WebhookEvent = {
    type: 'monitor.match',
    monitor: { id: monitor.id, name: monitor.name },
    match,
    sent_at: sentAt,
  };
  const body = Buffer.from(JSON.stringify(event));
  const headers = {
    ...COMMON_HEADERS,
    'X-Service-Delivery': match.id,
    ...signatureHeaders({ id: match.id, body, sentAt, secrets }),
  };
  return { headers, body };
}

const COMMON_HEADERS = { 'Content-Type': 'application/json', 'User-Agent': 'service-webhooks/1' };

function chatMessage(content: Record<string, unknown>): WebhookMessage {
  return { headers: COMMON_HEADERS, body: Buffer.from(JSON.stringify(content)) };
}

function chatText(match: MonitorMatch, escape: (text: string) => string): string {
  const text = match.kind === 'comment' ? match.body : match.title;
  const cut = text.length > CHAT_TEXT_LIMIT ? `${text.slice(0, CHAT_TEXT_LIMIT).toWellFormed()}…` : text;
  return `${escape(match.matched_terms[0] ?? '')} in r/${escape(match.subreddit)}: ${escape(cut)}\n${match.permalink}`;
}

/** The three characters by which Slack's markup (links, mentions) begins. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeDiscord(text: string): string {
  return text.replace(/[\\*_~`|>[\]()#@<-]/g, '\\$&');
}
