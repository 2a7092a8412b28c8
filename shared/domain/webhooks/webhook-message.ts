import type { WebhookKind } from '../../../schemas/api/monitors.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import type { WebhookEvent } from '../../../schemas/messages/webhook-event.ts';
import { discordMessage, discordRequestUrl } from './discord-message.ts';
import { slackMessage } from './slack-message.ts';
import { chatRequest, signedRequest } from './webhook-request.ts';
import type { WebhookMessage } from './webhook-request.ts';
import type { SigningSecret } from './webhook-signature.ts';

export interface WebhookMessageInput {
  kind: WebhookKind;
  monitor: { id: string; name: string };
  match: MonitorMatch;
  /** The current secret first; see signatureHeaders. */
  secrets: readonly [SigningSecret, ...SigningSecret[]];
  /** Milliseconds since the epoch. */
  now: number;
}

/** Builds the HTTP request for one match: a JSON event for a generic endpoint, a message for a chat product. */
export function buildWebhookMessage(input: WebhookMessageInput): WebhookMessage {
  switch (input.kind) {
    case 'generic':
      return genericMessage(input);
    case 'slack':
      return chatRequest(slackMessage(input.monitor, input.match));
    case 'discord':
      return chatRequest(discordMessage(input.monitor, input.match));
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
  return signedRequest(event, { id: match.id, sentAt, secrets });
}
