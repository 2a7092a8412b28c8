import { expect, test } from 'vitest';
import { loadConfig } from '../../../../shared/runtime/config.ts';
import { startWarnings } from '../../../../services/launcher/start-warnings.ts';

test.each<[env: Record<string, string>, warned: string[]]>([
  [{}, []],
  [{ TRUST_PROXY: 'loopback', DATABASE_URL: 'postgres://u@h/d', SECRET_KEY: 'x'.repeat(32) }, []],
  [{ WEBHOOK_ALLOW_PRIVATE: '1' }, ['WEBHOOK_ALLOW_PRIVATE']],
  [{ TRUST_PROXY: 'true' }, ['TRUST_PROXY']],
  [{ DATABASE_URL: 'postgres://u@h/d' }, ['SECRET_KEY']],
  [{ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }, ['STRIPE_SECRET_KEY']],
  [{ STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }, []],
])('a start with %j warns of %j', (env, warned) => {
  expect(startWarnings(loadConfig(env)).map((warning) => /^[A-Z_]+/.exec(warning)?.[0])).toEqual(warned);
});
