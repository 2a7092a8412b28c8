import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { WebhookKind } from '../../../schemas/api/monitors.ts';
import type { Digest, DigestEvent, Spike, SpikeEvent, WebhookEvent } from '../../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { randomText } from '../../rules/identifiers.ts';
import { discordDigest, discordMessage, discordRequestUrl, discordSpike } from './discord-message.ts';
import { slackDigest, slackMessage, slackSpike } from './slack-message.ts';

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
    body: `This is a sample match, sent to test a webhook. It contains the keyword ${keyword}.`,
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

/** Prefix of every webhook secret; base64 follows. */
const WEBHOOK_SECRET_PREFIX = 'whsec_';

/** The keys that a secret stands for in the two schemes of signatureHeaders. */
export interface SigningKeys {
  text: KeyObject;
  decoded: KeyObject;
}

/** As text, or as the keys of `signingKeys` for whoever signs often with it. */
type SigningSecret = string | SigningKeys;

interface SignatureInput {
  id: string;
  body: Buffer;
  sentAt: number;
  /** The current secret first, then the previous one, which receivers may still use after a rotation. */
  secrets: readonly [SigningSecret, ...SigningSecret[]];
}

/**
 * Signs a webhook in two schemes over the same bytes: X-Service-Signature, keyed with the whole current secret as text,
 * and X-Service-Signature-Previous, the same with the previous secret while there is one; and Standard Webhooks
 * (standardwebhooks.com), keyed with the decoded bytes, with one signature for each secret.
 */
function signatureHeaders(input: SignatureInput): Record<string, string> {
  const { id, body, sentAt, secrets } = input;
  const keys = secrets.map((secret) => (typeof secret === 'string' ? signingKeys(secret) : secret));
  const [current, previous] = keys;
  const own = ({ text }: SigningKeys) =>
    `t=${sentAt},v1=${createHmac('sha256', text).update(`${sentAt}.`).update(body).digest('hex')}`;
  const standard = keys.map(({ decoded }) => {
    const digest = createHmac('sha256', decoded).update(`${id}.${sentAt}.`).update(body).digest('base64');
    return `v1,${digest}`;
  });
  return {
    'X-Service-Signature': own(current!),
    ...(previous === undefined ? {} : { 'X-Service-Signature-Previous': own(previous) }),
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': standard.join(' '),
  };
}

/** Key objects: with a key in a buffer Node takes five times as long, since it first tries what kind it may be. */
export function signingKeys(secret: string): SigningKeys {
  return {
    text: createSecretKey(secret, 'utf8'),
    decoded: createSecretKey(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64'),
  };
}

/** In the format of Standard Webhooks: whsec_ and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
