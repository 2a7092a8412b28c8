import { expect, test } from 'vitest';
import { loadConfig } from '../../../../shared/runtime/config.ts';
import { startWarnings } from '../../../../services/launcher/start-warnings.ts';

const PAYMENTS = { STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };

test.each<[env: Record<string, string>, warned: string[]]>([
  [{}, []],
  [{ TRUST_PROXY: 'loopback', DATABASE_URL: 'postgres://u@h/d', SECRET_KEY: 'x'.repeat(32) }, []],
  [{ WEBHOOK_ALLOW_PRIVATE: '1' }, ['WEBHOOK_ALLOW_PRIVATE']],
  [{ TRUST_PROXY: 'true' }, ['TRUST_PROXY']],
  [{ DATABASE_URL: 'postgres://u@h/d' }, ['SECRET_KEY']],
  [{ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }, ['STRIPE_SECRET_KEY']],
  [PAYMENTS, []],
  [{ SECRET_KEY: 'x'.repeat(32), SECRET_KEY_PREVIOUS: 'y'.repeat(32) }, ['SECRET_KEY_PREVIOUS']],
  [{ BASE_URL: 'http://api.example.com', SMTP_URL: 'smtps://u:p@mail.example.com' }, ['BASE_URL']],
  [{ BASE_URL: 'https://api.example.com', SMTP_URL: 'smtps://u:p@mail.example.com' }, []],
  [{ BASE_URL: 'https://api.example.com' }, ['SMTP_URL']],
  [{ BASE_URL: 'http://10.1.2.3:8080' }, []],
  [{ KAFKA_BROKERS: 'u:p@kafka.example.com:9092' }, ['KAFKA_BROKERS']],
  [{ KAFKA_BROKERS: 'u:p@kafka:9092,u:p@kafka-0.brokers.forum.svc.cluster.local:9092' }, []],
  [{ DATABASE_URL: 'postgres://u:p@db.example.com/d?sslmode=verify-full', SECRET_KEY: 'x'.repeat(32) }, []],
  [{ DATABASE_URL: 'postgres://u:p@db.example.com/d?sslmode=disable', SECRET_KEY: 'x'.repeat(32) }, ['DATABASE_URL']],
  [{ CLICKHOUSE_URL: 'http://u:p@93.184.216.34:8123' }, ['CLICKHOUSE_URL']],
  [{ UPSTREAM_TOKEN_URL: 'http://forum.example.com/token' }, []],
  [{ UPSTREAM_CLIENTS: 'a:b', UPSTREAM_TOKEN_URL: 'http://forum.example.com/token' }, ['UPSTREAM_TOKEN_URL']],
  [
    { UPSTREAM_CLIENTS: 'a:b', UPSTREAM_URL: 'http://forum:8090', UPSTREAM_TOKEN_URL: 'http://forum:8090/token' },
    ['UPSTREAM_TOKEN_URL', 'UPSTREAM_URL'],
  ],
  [{ UPSTREAM_CLIENTS: 'a:b', UPSTREAM_URL: 'http://localhost.example.com' }, ['UPSTREAM_URL']],
  [{ SMTP_URL: 'smtp://relay.example.com' }, ['SMTP_URL']],
  [{ SMTP_URL: 'smtp://u:p@relay:587?requireTLS=false' }, ['SMTP_URL']],
  [{ SMTP_URL: 'smtp://relay?requireTLS=true' }, []],
  [{ SMTP_URL: 'smtp://u:p@mail.example.com:587' }, []],
  [{ SMTP_URL: 'smtp://127.0.0.1:25' }, []],
  [{ ...PAYMENTS, STRIPE_API_URL: 'http://stripe:12111' }, ['STRIPE_API_URL']],
])('a start with %j warns of %j', (env, warned) => {
  expect(startWarnings(loadConfig(env)).map((warning) => /^[A-Z_]+/.exec(warning)?.[0])).toEqual(warned);
});
