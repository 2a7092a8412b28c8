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

  test.each([
    [{ PORT: '70000' }, 'PORT: must be a whole number from 0 to 65535 (it is "70000")'],
    [{ LOG_FORMAT: 'fancy' }, 'LOG_FORMAT: must be pretty or json (it is "fancy")'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL: must be trace, debug, info, warn, error, fatal or silent (it is "loud")'],
    [{ KAFKA_TLS: 'two\nlines' }, 'KAFKA_TLS: must be 0 or 1 (it is "two\\nlines")'],
    [{ LOG_LEVEL: 'x\u009b2J\u202e' }, '(it is "x?2J?")'],
  ])('a rejected number or word is quoted: %j', (env, quoted) => {
    expect(() => loadConfig(env)).toThrow(quoted);
  });

  test.each([
    { DATABASE_URL: 'mysql://u:hunter2@h/x' },
    { CLICKHOUSE_URL: 'ftp://u:hunter2@h/x' },
    { KAFKA_BROKERS: 'hunter2' },
    { KAFKA_JARS_URL: 'hunter2' },
    { SMTP_URL: 'hunter2' },
    { WEBHOOK_EGRESS_PROXY: 'hunter2' },
    { SECRET_KEY: 'hunter2' },
    { SECRET_KEY_PREVIOUS: 'hunter2' },
    { UPSTREAM_CLIENTS: 'hunter2' },
    { STRIPE_SECRET_KEY: 'hunter2' },
    { STRIPE_WEBHOOK_SECRET: 'hunter2' },
    { BASE_URL: 'http://u:hunter2@h' },
    { STRIPE_PRICE_9: 'sk_live_hunter2' },
    { STRIPE_PRICE_29: 'whsec_hunter2' },
    { HOST: 'http://hunter2@h' },
    { METRICS_HOST: 'id:hunter2' },
    { KAFKA_TLS: '1', KAFKA_TLS_KEY_FILE: '-----BEGIN PRIVATE KEY-----\nhunter2' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example/?api-key=hunter2' },
    { STRIPE_API_URL: 'https://x.example/hook#token=hunter2' },
    { UPSTREAM_URL: 'id:hunter2' },
    { TRUST_PROXY: 'postgres:hunter2' },
    { MAIL_FROM: 'smtps://user:hunter2@smtp.example x' },
    { CRAWL_SOURCES: 'hunter2' },
    { LOG_FORMAT: `SG.hunter2.${'x'.repeat(20)}` },
    { PORT: 'hunter2'.repeat(5) },
  ])('what may be a secret is not quoted: %j', (env) => {
    expect(() => loadConfig(env)).toThrow(Object.keys(env)[0]);
    expect(() => loadConfig(env)).not.toThrow(/hunter2/);
  });

  test('a key that stands in the wrong place is not quoted either', () => {
    const key = 'hunter2'.repeat(5);
    expect(() => loadConfig({ SECRET_KEY_PREVIOUS: key })).toThrow(/SECRET_KEY: must be set together/);
    expect(() => loadConfig({ SECRET_KEY_PREVIOUS: key })).not.toThrow(/hunter2/);
    expect(() => loadConfig({ SECRET_KEY: key, SECRET_KEY_PREVIOUS: key })).toThrow(/SECRET_KEY_PREVIOUS: must differ/);
  });
});
