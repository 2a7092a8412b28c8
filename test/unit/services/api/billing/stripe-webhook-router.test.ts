import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifyEvent } from '../../../../../services/api/billing/stripe-webhook-router.ts';
import { deliveryOf, eventOf, WEBHOOK_SECRET } from '../../../../support/samples/stripe-events.ts';

const NOW = 1_700_000_000_000;
const EVENT = eventOf('charge.refunded', { text: 'Zürich ✓' }, 'evt_1');

function verify(
  body: string,
  signature: string | undefined,
  secrets = [WEBHOOK_SECRET],
  now = NOW,
): string | undefined {
  return verifyEvent({ payload: Buffer.from(body), signature }, secrets, now)?.id;
}

const signed = deliveryOf(EVENT, { at: NOW });
const signature = signed.headers['stripe-signature']!;

test('a signature is good for five minutes, with any of the secrets', () => {
  expect(verify(signed.body, signature)).toBe('evt_1');
  expect(verify(signed.body, signature, ['whsec_other', WEBHOOK_SECRET])).toBe('evt_1');
  expect(verify(signed.body, signature, [WEBHOOK_SECRET], NOW + 300_999)).toBe('evt_1');
  expect(verify(signed.body, signature, [WEBHOOK_SECRET], NOW + 301_000)).toBeUndefined();
  expect(verify(signed.body, signature, ['whsec_other'])).toBeUndefined();
  expect(verify(signed.body, signature, [])).toBeUndefined();
});

test('several signatures in one header are each enough, as while a secret is replaced', () => {
  expect(verify(signed.body, `${signature},v1=${'0'.repeat(64)}`)).toBe('evt_1');
  expect(verify(signed.body, signature.replace('v1=', `v1=${'0'.repeat(64)},v1=`))).toBe('evt_1');
});

test('any change of the body or of the signature is refused, and no header throws', () => {
  const at = fc.nat({ max: signed.body.length - 1 });
  fc.assert(
    fc.property(at, fc.constantFrom('x', '0', ' '), (index, character) => {
      const changed = signed.body.slice(0, index) + character + signed.body.slice(index + 1);
      expect(verify(changed, signature)).toBe(changed === signed.body ? 'evt_1' : undefined);
    }),
  );
  const header = fc.oneof(
    fc.string(),
    fc.stringMatching(/^t=\d{0,12},v[01]=[0-9a-f]{0,70}$/),
    fc.constantFrom('t', 't=', 't=1,v1', 't=1,v1=', ',', 't=1,v1=a,v1=', `t=NaN,v1=${'0'.repeat(64)}`),
  );
  fc.assert(
    fc.property(header, (text) => {
      expect(verify(signed.body, text)).toBeUndefined();
    }),
  );
  expect(verify(signed.body, undefined)).toBeUndefined();
});

test('what is signed and not an event is an error, so that the sender repeats it', () => {
  const { body, headers } = deliveryOf({ id: 'evt_1' }, { at: NOW });
  expect(() => verify(body, headers['stripe-signature'])).toThrow('livemode');
});
