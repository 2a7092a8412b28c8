import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { NO_SECURITY, tlsOptions } from '../../../../shared/kafka/broker-list.ts';
import { ConfigError, loadConfig } from '../../../../shared/runtime/config.ts';

const securityOf = (env: Record<string, string>) => loadConfig(env).kafka.security;

const folder = mkdtempSync(join(tmpdir(), 'forum-kafka-security-'));
const PEM = join(folder, 'ca.pem');
writeFileSync(PEM, '-----BEGIN CERTIFICATE-----\n');
afterAll(() => rmSync(folder, { recursive: true }));

describe('settings of connections to Kafka', () => {
  test('with TLS, certificates are checked by the authorities that Node.js trusts, or those of a file', () => {
    const trusting = securityOf({ KAFKA_TLS: '1', KAFKA_SASL_MECHANISM: 'scram-sha-512' });
    expect(trusting.mechanism).toBe('scram-sha-512');
    expect(tlsOptions(trusting)).toEqual({ ssl: {} });
    const file = securityOf({ KAFKA_TLS: '1', KAFKA_TLS_CA_FILE: PEM });
    expect(tlsOptions(file)).toEqual({ ssl: { ca: [expect.stringContaining('-----BEGIN ')] } });
  });

  test('the embedded broker has none', () => {
    expect(securityOf({ KAFKA_TLS: '1', FORUM_EMBEDDED: 'kafka' })).toEqual(NO_SECURITY);
  });

  test('a file that cannot be read is named', () => {
    const tls = { caFile: '/nowhere/ca.pem', certificateFile: undefined, keyFile: undefined };
    expect(() => tlsOptions({ mechanism: 'plain', tls })).toThrow('/nowhere/ca.pem');
    expect(() => securityOf({ KAFKA_TLS: '1', KAFKA_TLS_CA_FILE: '/nowhere/ca.pem' })).toThrow(
      'KAFKA_TLS_CA_FILE: must be the path of a readable PEM file',
    );
  });

  test.each([
    [{ KAFKA_TLS: '1', KAFKA_TLS_CERT_FILE: PEM }, 'KAFKA_TLS_KEY_FILE: must be set together with KAFKA_TLS_CERT_FILE'],
    [{ KAFKA_TLS: '1', KAFKA_TLS_KEY_FILE: PEM }, 'KAFKA_TLS_CERT_FILE: must be set together with KAFKA_TLS_KEY_FILE'],
    [{ KAFKA_TLS_CA_FILE: PEM }, 'KAFKA_TLS: must be 1 when TLS files are set'],
  ])('%j is refused', (env, message) => {
    expect(() => loadConfig(env)).toThrow(ConfigError);
    expect(() => loadConfig(env)).toThrow(message);
  });
});
