import { expect, test } from 'vitest';
import { WebhookKeys } from '../../../../services/deliverer/delivery-attempt.ts';
import { createSecretBox } from '../../../../shared/rules/secret-box.ts';
import { newWebhookSecret } from '../../../../shared/deliveries/rules/webhook-message.ts';

test('a sealed secret that was copied to another monitor does not open there, also when its keys are known', () => {
  const box = createSecretBox('a secret key of the tests, long enough');
  const keys = new WebhookKeys(box);
  const sealed = box.seal(newWebhookSecret(), 'mon_a');
  keys.of('mon_a', sealed);
  expect(() => keys.of('mon_b', sealed)).toThrow();
});
