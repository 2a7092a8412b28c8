import { expect, test } from 'vitest';
import { offersTrialPayments } from '../../../../services/launcher/services-environment.ts';
import { loadConfig } from '../../../../shared/runtime/config.ts';

test.each<[env: Record<string, string>, isOffered: boolean]>([
  [{}, true],
  [{ HOST: '0.0.0.0' }, false],
  [{ PORT: '0' }, false],
  [{ DATABASE_URL: 'postgres://u@h/d' }, false],
  [{ UPSTREAM_CLIENTS: 'a:b' }, false],
  [{ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }, false],
])('with %j packs are sold for trial money: %s', (env, isOffered) => {
  expect(offersTrialPayments(loadConfig(env))).toBe(isOffered);
});
