import { expect, test } from 'vitest';
import { offersTrialPayments } from '../../../../services/launcher/trial-payments.ts';
import { loadConfig } from '../../../../shared/runtime/config.ts';

const STRIPE = { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };

test.each<[boolean, Record<string, string>]>([
  [true, {}],
  [true, { HOST: 'localhost', KAFKA_BROKERS: 'broker:9092' }],
  [false, STRIPE],
  [false, { UPSTREAM_CLIENTS: 'id:secret' }],
  [false, { DATABASE_URL: 'postgres://db/forum' }],
  [false, { HOST: '0.0.0.0' }],
  [false, { HOST: '127.example.com' }],
  [false, { PORT: '0' }],
])('%s: trial payments with %j', (offers, env) => {
  expect(offersTrialPayments(loadConfig(env))).toBe(offers);
});
