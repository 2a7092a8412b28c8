import { createHmac } from 'node:crypto';

/** What every webhook secret starts with; the rest is base64. */
const WEBHOOK_SECRET_PREFIX = 'whsec_';

export interface SignatureInput {
  /** The match id. */
  id: string;
  /** The exact bytes that are sent. */
  body: Buffer;
  /** Moment of the attempt, unix seconds. */
  sentAt: number;
  /** The current secret first, then one that a rotation has replaced and that receivers may still hold. */
  secrets: readonly [string, ...string[]];
}

/**
 * Headers by which a receiver knows that a webhook is ours, in two schemes over the same bytes:
 * X-Service-Signature, keyed with the whole secret string, the current one only; and that of Standard Webhooks
 * (standardwebhooks.com), keyed with the bytes the secret encodes, one signature per secret.
 */
export function signatureHeaders(input: SignatureInput): Record<string, string> {
  const { id, body, sentAt, secrets } = input;
  const own = createHmac('sha256', secrets[0]).update(`${sentAt}.`).update(body).digest('hex');
  const standard = secrets.map((secret) => {
    const digest = createHmac('sha256', secretBytes(secret)).update(`${id}.${sentAt}.`).update(body).digest('base64');
    return `v1,${digest}`;
  });
  return {
    'X-Service-Signature': `t=${sentAt},v1=${own}`,
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': standard.join(' '),
  };
}

function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64');
}
