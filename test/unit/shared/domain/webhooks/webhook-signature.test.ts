import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { signatureHeaders } from '../../../../../shared/domain/webhooks/webhook-signature.ts';
import { newWebhookSecret } from '../../../../../shared/domain/webhooks/webhook-secret.ts';

const ID = 'mat_0123456789ab_000000000001';
const BODY = Buffer.from(JSON.stringify({ type: 'monitor.match', text: 'naïve 日本語 "quotes"' }));
const stripe = new Stripe('sk_test_unused');

function sign(secrets: [string, ...string[]], sentAt = Math.floor(Date.now() / 1000)) {
  return signatureHeaders({ id: ID, body: BODY, sentAt, secrets });
}

describe('X-Service-Signature', () => {
  test('is what an independent verifier of the same scheme accepts', () => {
    const secret = newWebhookSecret();
    const header = sign([secret])['X-Service-Signature']!;
    expect(() => stripe.webhooks.constructEvent(BODY, header, secret, 300)).not.toThrow();
    expect(() => stripe.webhooks.constructEvent(`${BODY.toString()} `, header, secret, 300)).toThrow(/signature/i);
    expect(() => stripe.webhooks.constructEvent(BODY, header, newWebhookSecret(), 300)).toThrow(/signature/i);
  });

  test('carries the time, so that stale ones are refused', () => {
    const secret = newWebhookSecret();
    const header = sign([secret], Math.floor(Date.now() / 1000) - 301)['X-Service-Signature']!;
    expect(() => stripe.webhooks.constructEvent(BODY, header, secret, 300)).toThrow(/tolerance/i);
  });

  test('is the hex HMAC-SHA256 of <t>.<raw body> keyed with the whole secret', () => {
    const digest = createHmac('sha256', 'whsec_c2VjcmV0').update(`1700000000.${BODY.toString()}`).digest('hex');
    expect(sign(['whsec_c2VjcmV0'], 1_700_000_000)['X-Service-Signature']).toBe(`t=1700000000,v1=${digest}`);
  });

  test('uses the current secret only after a rotation', () => {
    const [current, previous] = [newWebhookSecret(), newWebhookSecret()];
    const header = sign([current, previous])['X-Service-Signature']!;
    expect(() => stripe.webhooks.constructEvent(BODY, header, current, 300)).not.toThrow();
    expect(() => stripe.webhooks.constructEvent(BODY, header, previous, 300)).toThrow(/signature/i);
  });
});

describe('X-Service-Signature-Previous', () => {
  test('has the form of X-Service-Signature and the signature of the previous secret only', () => {
    const [current, previous] = [newWebhookSecret(), newWebhookSecret()];
    const header = sign([current, previous])['X-Service-Signature-Previous']!;
    expect(header).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    expect(() => stripe.webhooks.constructEvent(BODY, header, previous, 300)).not.toThrow();
    expect(() => stripe.webhooks.constructEvent(BODY, header, current, 300)).toThrow(/signature/i);
  });

  test('is absent without a previous secret', () => {
    expect(sign([newWebhookSecret()])).not.toHaveProperty('X-Service-Signature-Previous');
  });
});

describe('the Standard Webhooks headers', () => {
  test('are what the standard library accepts, for the current and the previous secret', () => {
    const [current, previous] = [newWebhookSecret(), newWebhookSecret()];
    const headers = sign([current, previous]);
    expect(headers['webhook-id']).toBe(ID);
    expect(() => new Webhook(current).verify(BODY, headers)).not.toThrow();
    expect(() => new Webhook(previous).verify(BODY, headers)).not.toThrow();
    expect(() => new Webhook(newWebhookSecret()).verify(BODY, headers)).toThrow();
    expect(() => new Webhook(current).verify(BODY, { ...headers, 'webhook-id': 'mat_other' })).toThrow();
  });
});
