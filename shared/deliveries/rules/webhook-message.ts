import type { WebhookKind } from '../../../schemas/api/monitors.ts';
import type { Digest, DigestEvent, Spike, SpikeEvent, WebhookEvent } from '../../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { randomText } from '../../rules/identifiers.ts';
import { discordDigest, discordMessage, discordRequestUrl, discordSpike } from './discord-message.ts';
import { slackDigest, slackMessage, slackSpike } from './slack-message.ts';
import { signatureHeaders } from './webhook-signature.ts';
import type { SigningSecret } from './webhook-signature.ts';

export interface WebhookMessage {
  headers: Record<string, string>;
  body: Buffer;
}

/** What a monitor's webhook is told. */
export type WebhookContent =
  | { type: 'monitor.match'; match: MonitorMatch }
  | { type: 'monitor.spike'; spike: Spike }
  | { type: 'monitor.digest'; digest: Digest };

interface WebhookMessageInput {
  /** Of the match or event, by which receivers tell repeated deliveries. */
  id: string;
  kind: WebhookKind;
  monitor: { id: string; name: string };
  content: WebhookContent;
  /** The current secret first; see signatureHeaders. */
  secrets: readonly [SigningSecret, ...SigningSecret[]];
  /** Milliseconds since the epoch. */
  now: number;
}

const COMMON_HEADERS = { 'Content-Type': 'application/json', 'User-Agent': 'service-webhooks/1' };

/** Builds an HTTP request: a signed JSON event for a generic endpoint, a message for a chat product. */
export function buildWebhookMessage({ id, kind, monitor, content, secrets, now }: WebhookMessageInput): WebhookMessage {
  if (kind !== 'generic') {
    return { headers: COMMON_HEADERS, body: Buffer.from(JSON.stringify(chatMessage(kind, monitor, content))) };
  }
  const { type, ...what } = content;
  const sentAt = Math.floor(now / 1000);
  const named = { id: monitor.id, name: monitor.name };
  const event = { type, monitor: named, ...what, sent_at: sentAt } as WebhookEvent | SpikeEvent | DigestEvent;
  const body = Buffer.from(JSON.stringify(event));
  const signed = signatureHeaders({ id, body, sentAt, secrets });
  return { headers: { ...COMMON_HEADERS, 'X-Service-Delivery': id, ...signed }, body };
}

function chatMessage(kind: 'slack' | 'discord', monitor: { name: string }, content: WebhookContent): object {
  const isSlack = kind === 'slack';
  switch (content.type) {
    case 'monitor.match':
      return (isSlack ? slackMessage : discordMessage)(monitor, content.match);
    case 'monitor.spike':
      return (isSlack ? slackSpike : discordSpike)(monitor, content.spike);
    case 'monitor.digest':
      return (isSlack ? slackDigest : discordDigest)(monitor, content.digest);
  }
}

/** The URL of that request: the monitor's URL, with the parameters that a chat product needs. */
export function webhookRequestUrl(kind: WebhookKind, webhookUrl: string): string {
  return kind === 'discord' ? discordRequestUrl(webhookUrl) : webhookUrl;
}

/**
 * A made-up match for trying out a webhook: a comment that contains the monitor's first keyword.
 *
 * @param now milliseconds since the epoch
 */
export function sampleMatch(
  { monitorId, keyword }: { monitorId: string; keyword: string },
  { siteUrl, now }: { siteUrl: string; now: number },
): MonitorMatch {
  const time = new Date(now).toISOString();
  return {
    id: `test_${randomText(12)}`,
    monitor_id: monitorId,
    thing_id: 't1_sample',
    kind: 'comment',
    subreddit: 'test',
    author: 'sample_author',
    title: 'A sample post',
    body: `This is a sample match, sent to try a webhook out. It holds the keyword ${keyword}.`,
    permalink: `${siteUrl}/r/test/comments/sample/a_sample_post/sample/`,
    post_id: 'sample',
    created_utc: time,
    matched_terms: [keyword],
    suppressed: false,
    delivery_status: 'pending',
    created_at: time,
    delivered_at: null,
  };
}
