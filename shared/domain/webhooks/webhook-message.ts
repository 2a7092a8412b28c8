import type { WebhookKind } from '../../../schemas/api/monitor.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import type { WebhookEvent } from '../../../schemas/messages/webhook-event.ts';
import { discordMessage, discordRequestUrl } from './discord-message.ts';
import { slackMessage } from './slack-message.ts';
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

/** Builds the HTTP request for one match: a JSON event for a generic endpoint, a message for a chat product. */
export function buildWebhookMessage(input: WebhookMessageInput): WebhookMessage {
  switch (input.kind) {
    case 'generic':
      return genericMessage(input);
    case 'slack':
      return chatMessage(slackMessage(input.monitor, input.match));
    case 'discord':
      return chatMessage(discordMessage(input.monitor, input.match));
  }
}

/** The URL of that request: the monitor's URL, with the parameters that a chat product needs. */
export function webhookRequestUrl(kind: WebhookKind, webhookUrl: string): string {
  return kind === 'discord' ? discordRequestUrl(webhookUrl) : webhookUrl;
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
