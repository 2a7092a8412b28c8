import { randomBytes } from 'node:crypto';

/**
 * Generates the secret that signs a monitor's webhooks, in the format of Standard Webhooks: whsec_ and 32 random bytes
 * in base64.
 */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
