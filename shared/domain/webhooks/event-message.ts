import type { WebhookKind } from '../../../schemas/api/monitors.ts';
import type { Digest, DigestEvent, Spike, SpikeEvent } from '../../../schemas/messages/monitor-event.ts';
import { discordDigest, discordSpike } from './discord-message.ts';
import { slackDigest, slackSpike } from './slack-message.ts';
import { chatRequest, signedRequest } from './webhook-request.ts';
import type { WebhookMessage } from './webhook-request.ts';

/** What a monitor's webhook is told beside its matches. */
export type EventContent = { kind: 'monitor.spike'; spike: Spike } | { kind: 'monitor.digest'; digest: Digest };

export interface EventMessageInput {
  /** The id of the event. */
  id: string;
  kind: WebhookKind;
  monitor: { id: string; name: string };
  content: EventContent;
  /** The current secret first; see signatureHeaders. */
  secrets: readonly [string, ...string[]];
  /** Milliseconds since the epoch. */
  now: number;
}

/** Builds the HTTP request for one event: a JSON event for a generic endpoint, a message for a chat product. */
export function buildEventMessage(input: EventMessageInput): WebhookMessage {
  const { monitor, content } = input;
  switch (input.kind) {
    case 'generic':
      return genericMessage(input);
    case 'slack':
      return chatRequest(
        content.kind === 'monitor.spike' ? slackSpike(monitor, content.spike) : slackDigest(monitor, content.digest),
      );
    case 'discord':
      return chatRequest(
        content.kind === 'monitor.spike'
          ? discordSpike(monitor, content.spike)
          : discordDigest(monitor, content.digest),
      );
  }
}

function genericMessage({ id, monitor, content, secrets, now }: EventMessageInput): WebhookMessage {
  const sentAt = Math.floor(now / 1000);
  const named = { id: monitor.id, name: monitor.name };
  const event: SpikeEvent | DigestEvent =
    content.kind === 'monitor.spike'
      ? { type: content.kind, monitor: named, spike: content.spike, sent_at: sentAt }
      : { type: content.kind, monitor: named, digest: content.digest, sent_at: sentAt };
  return signedRequest(event, { id, sentAt, secrets });
}
