import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Prefix of every webhook secret; base64 follows. */
const WEBHOOK_SECRET_PREFIX = 'whsec_';

export interface SignatureInput {
  /** The match id. */
  id: string;
  /** The exact bytes that are sent. */
  body: Buffer;
  /** Time of the attempt in Unix seconds. */
  sentAt: number;
  /** The current secret first, then the previous one, which receivers may still use after a rotation. */
  secrets: readonly [string, ...string[]];
}

/**
 * Signs a webhook in two schemes over the same bytes: X-Service-Signature, keyed with the whole current secret as text,
 * and X-Service-Signature-Previous, the same with the previous secret while there is one; and Standard Webhooks
 * (standardwebhooks.com), keyed with the decoded bytes, with one signature for each secret.
 */
export function signatureHeaders(input: SignatureInput): Record<string, string> {
  const { id, body, sentAt, secrets } = input;
  const [current, previous] = secrets;
  const own = (secret: string) =>
    `t=${sentAt},v1=${createHmac('sha256', textKey(secret)).update(`${sentAt}.`).update(body).digest('hex')}`;
  const standard = secrets.map((secret) => {
    const digest = createHmac('sha256', decodedKey(secret)).update(`${id}.${sentAt}.`).update(body).digest('base64');
    return `v1,${digest}`;
  });
  return {
    'X-Service-Signature': own(current),
    ...(previous === undefined ? {} : { 'X-Service-Signature-Previous': own(previous) }),
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': standard.join(' '),
  };
}

// Key objects: Node takes five times as long for a key in a buffer, because it first tries what other kind it may be.

function textKey(secret: string): KeyObject {
  return createSecretKey(secret, 'utf8');
}

function decodedKey(secret: string): KeyObject {
  return createSecretKey(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64');
}
