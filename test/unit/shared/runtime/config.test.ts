import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../../../shared/runtime/config.ts';

describe('loadConfig', () => {
  test('all faults are named in one message', () => {
    const broken = {
      PORT: '70000',
      DATABASE_URL: 'mysql://x',
      KAFKA_BROKERS: 'nowhere',
      LOG_LEVEL: 'loud',
      SECRET_KEY: 'short',
    };
    expect(() => loadConfig(broken)).toThrow(ConfigError);
    const message = (() => {
      try {
        loadConfig(broken);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    })();
    for (const name of Object.keys(broken)) expect(message).toContain(name);
  });

  test('the shares of the budget are percent, and at most a whole together', () => {
    expect(loadConfig({}).upstream.shares).toEqual({ live: 0.6, reading: 0.2, audit: 0.02 });
    const whole = { UPSTREAM_LIVE_SHARE: '50', UPSTREAM_READING_SHARE: '47.5', UPSTREAM_AUDIT_SHARE: '2.5' };
    expect(loadConfig(whole).upstream.shares.reading).toBeCloseTo(0.475);
    expect(() => loadConfig({ ...whole, UPSTREAM_AUDIT_SHARE: '3' })).toThrow(
      /UPSTREAM_LIVE_SHARE.*UPSTREAM_READING_SHARE.*UPSTREAM_AUDIT_SHARE.*100\.5 % together/,
    );
  });

  test('payments are on with a key and a secret, and their mode follows from the key', () => {
    expect(loadConfig({ STRIPE_API_URL: 'http://127.0.0.1:9', STRIPE_PRICE_9: 'price_1' }).payments).toBeUndefined();
    const secrets = { STRIPE_WEBHOOK_SECRET: 'whsec_a, whsec_b' };
    const live = loadConfig({ ...secrets, STRIPE_SECRET_KEY: 'rk_live_1', STRIPE_PRICE_29: 'price_2' }).payments;
    expect(live).toEqual({
      mode: 'live',
      secretKey: 'rk_live_1',
      webhookSecrets: ['whsec_a', 'whsec_b'],
      apiUrl: undefined,
      prices: { 29: 'price_2' },
      automaticTax: false,
    });
    const test = { ...secrets, STRIPE_SECRET_KEY: 'sk_test_1' };
    expect(loadConfig(test).payments?.mode).toBe('test');
    expect(loadConfig({ ...test, FORUM_SIMULATED: 'forum,payments' }).payments?.mode).toBe('trial');
  });

  test('a key without a secret, a secret without a key, and malformed ones are faults that repeat no value', () => {
    const faulty: [Record<string, string>, RegExp][] = [
      [{ STRIPE_SECRET_KEY: 'sk_live_hunter2' }, /STRIPE_WEBHOOK_SECRET: must be set together with STRIPE_SECRET_KEY/],
      [{ STRIPE_WEBHOOK_SECRET: 'whsec_hunter2' }, /STRIPE_SECRET_KEY: must be set together/],
      [
        { STRIPE_SECRET_KEY: 'sk_live_hunter2', STRIPE_WEBHOOK_SECRET: 'whsec_1', FORUM_SIMULATED: 'payments' },
        /FORUM_SIMULATED: must not have payments together with a live STRIPE_SECRET_KEY/,
      ],
      [
        { STRIPE_SECRET_KEY: 'rk_live_hunter2', STRIPE_WEBHOOK_SECRET: 'whsec_1', WEBHOOK_ALLOW_PRIVATE: '1' },
        /WEBHOOK_ALLOW_PRIVATE: must not be 1 together with a live STRIPE_SECRET_KEY/,
      ],
    ];
    for (const [env, message] of faulty) {
      expect(() => loadConfig(env)).toThrow(message);
      expect(() => loadConfig(env)).not.toThrow(/hunter2/);
    }
  });

  test('values are never repeated in the message: they may be secrets', () => {
    const key = 'hunter2'.repeat(5);
    expect(() => loadConfig({ SECRET_KEY_PREVIOUS: key })).toThrow(/SECRET_KEY: must be set together/);
    expect(() => loadConfig({ SECRET_KEY_PREVIOUS: key })).not.toThrow(/hunter2/);
    expect(() => loadConfig({ SECRET_KEY: key, SECRET_KEY_PREVIOUS: key })).toThrow(/SECRET_KEY_PREVIOUS: must differ/);
  });
});
