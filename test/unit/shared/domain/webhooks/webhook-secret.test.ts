import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newWebhookSecret } from '../../../../../shared/domain/webhooks/webhook-secret.ts';

test('a webhook secret is whsec_ and 32 bytes in base64, and never repeats', () => {
  const secrets = Array.from({ length: 1_000 }, newWebhookSecret);
  expect(new Set(secrets).size).toBe(1_000);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  }
});

test('the standard library accepts a webhook secret', () => {
  expect(() => new Webhook(newWebhookSecret())).not.toThrow();
});
