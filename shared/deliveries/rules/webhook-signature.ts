import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Prefix of every webhook secret; base64 follows. */
const WEBHOOK_SECRET_PREFIX = 'whsec_';

/** The keys that a secret stands for in the two schemes of signatureHeaders. */
export interface SigningKeys {
  text: KeyObject;
  decoded: KeyObject;
}

/** As text, or as the keys of `signingKeys` for whoever signs often with it. */
export type SigningSecret = string | SigningKeys;

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
export function signatureHeaders(input: SignatureInput): Record<string, string> {
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
