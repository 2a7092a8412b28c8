import { expect, test } from 'vitest';
import { WebhookKeys } from '../../../../services/deliverer/webhook-keys.ts';
import { createSecretBox } from '../../../../shared/domain/secret-box.ts';
import { newWebhookSecret } from '../../../../shared/domain/webhooks/webhook-secret.ts';
import { signatureHeaders, signingKeys } from '../../../../shared/domain/webhooks/webhook-signature.ts';

const box = createSecretBox('a secret key of the tests, long enough');

class KeysBench {
  opened = 0;
  readonly keys = new WebhookKeys(
    {
      open: (sealed, context) => {
        this.opened += 1;
        return box.open(sealed, context);
      },
    },
    2,
  );
}

test('signs as the secret does, which it opens once', () => {
  const bench = new KeysBench();
  const secret = newWebhookSecret();
  const sealed = box.seal(secret, 'mon_a');
  const signed = { id: 'mat_1', body: Buffer.from('{}'), sentAt: 1_700_000_000 };
  for (let n = 0; n < 3; n++) {
    expect(signatureHeaders({ ...signed, secrets: [bench.keys.of('mon_a', Buffer.from(sealed))] })).toEqual(
      signatureHeaders({ ...signed, secrets: [secret] }),
    );
  }
  expect(bench.opened).toBe(1);
});

test('a rotated secret has other keys at once', () => {
  const bench = new KeysBench();
  const [before, after] = [newWebhookSecret(), newWebhookSecret()];
  bench.keys.of('mon_a', box.seal(before, 'mon_a'));
  expect(bench.keys.of('mon_a', box.seal(after, 'mon_a')).text.equals(signingKeys(after).text)).toBe(true);
});

test('a sealed secret that was copied to another monitor does not open there, also when its keys are known', () => {
  const bench = new KeysBench();
  const sealed = box.seal(newWebhookSecret(), 'mon_a');
  bench.keys.of('mon_a', sealed);
  expect(() => bench.keys.of('mon_b', sealed)).toThrow();
});
