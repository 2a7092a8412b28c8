import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterAll, describe, expect, test } from 'vitest';
import { checkReplayFiles } from '../../../services/crawler/replay/replay-plan.ts';
import { claimJoiningPorts, claimPorts } from '../../../services/launcher/engines/ports.ts';
import { DataDirLock } from '../../../services/launcher/engines/data-dir-lock.ts';
import { chooseServices, SERVICES } from '../../../services/service-names.ts';
import { ConfigError, loadConfig } from '../../../shared/runtime/config.ts';
import { errorMessage } from '../../../shared/runtime/errors.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-settings-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, 'file'), '');

/** A wrong value of each kind of setting. Settings of the same kind share their parser. */
const WRONG_SETTINGS: readonly (readonly [variable: string, value: string])[] = [
  ['PORT', '65536'],
  ['HOST', 'http://a.example'],
  ['HTTP_MAX_CONNECTIONS', '10.5'],
  ['BASE_URL', 'http://user:word@a.example'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['KAFKA_BROKERS', 'u:%zz@a.example:9092'],
  ['KAFKA_SASL_MECHANISM', 'PLAIN'],
  ['KAFKA_TLS', 'yes'],
  ['KAFKA_TLS_CA_FILE', '/nowhere/ca.pem'],
  ['KAFKA_REPLICATION', '0'],
  ['KAFKA_PARTITIONS', 'monitor.match=3'],
  ['KAFKA_TOPIC_PREFIX', 'a/b'],
  ['MATCHER_SHARDS', '65'],
  ['MATCHER_SHARD', '2'],
  ['DATABASE_URL', 'mysql://a.example/x'],
  ['CLICKHOUSE_URL', 'clickhouse://a.example'],
  ['CLICKHOUSE_CLUSTER', "a'b"],
  ['SECRET_KEY', 'x'.repeat(31)],
  ['UPSTREAM_CLIENTS', 'id:one,id:two'],
  ['UPSTREAM_USER_AGENT', 'a\nb'],
  ['UPSTREAM_LIVE_SHARE', '101'],
  ['CRAWL_SOURCES', 'post-ids;listings'],
  ['CRAWL_SOURCES', 'replay:/nonexistent/dump.jsonl'],
  ['REPLAY_MOST_LAG', '-1'],
  ['SIMULATOR_RATE', '1e2'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
  ['WEBHOOK_EGRESS_PROXY', 'https://a.example'],
  ['SMTP_URL', 'http://mail.example'],
  ['MAIL_FROM', 'a@a.example, b@a.example'],
  ['STRIPE_SECRET_KEY', 'pk_live_0123456789'],
  ['STRIPE_WEBHOOK_SECRET', '0123456789'],
  ['STRIPE_PRICE_9', 'prod_0123456789'],
  ['AGENT_SIGNUP_PER_HOUR', '1.5'],
  ['LOG_LEVEL', 'loud'],
];

/** What a start checks before it starts anything; the message of its fault. */
function faultOf(env: Record<string, string>): string {
  try {
    checkReplayFiles(loadConfig(env).crawlSources);
    return 'no fault';
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return errorMessage(error);
  }
}

describe('a wrong setting is named', () => {
  test.each(WRONG_SETTINGS)('%s=%j', (variable, value) => {
    expect(faultOf({ [variable]: value })).toMatch(new RegExp(`\\b${variable}: `));
  });

  test.each(['/proc/foo', '/proc/foo/bar', '/dev/null/data', join(root, 'file'), join(root, 'file', 'data'), '/'])(
    'DATA_DIR=%s',
    async (dataDir) => {
      await expect(DataDirLock.acquire(dataDir)).rejects.toThrow(`DATA_DIR ${dataDir} cannot be written to: `);
    },
  );

  test('DATA_DIR that all users share keeps its permissions', async () => {
    await expect(DataDirLock.acquire(tmpdir())).rejects.toThrow(/choose a directory of its own/);
  });

  test('the file of a dump, without what steers a terminal', () => {
    expect(faultOf({ CRAWL_SOURCES: 'replay:/no/\u001b[31mx' })).toMatch(
      /replay:\/no\/\?\[31mx: the file \/no\/\?\[31mx does/,
    );
  });

  test('a service that does not exist', () => {
    expect(() => chooseServices(['matcher', 'matchr'])).toThrow(/Unknown service matchr.*matcher, recorder/);
    expect(chooseServices(['recorder', 'api'])).toEqual(['api', 'recorder']);
  });

  test('--help says what can be given, whatever the settings are', () => {
    const env = { ...process.env, PORT: 'wrong' };
    const { status, stdout } = spawnSync(process.execPath, ['services/main.ts', '--help'], { env, encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toContain(SERVICES.join(', '));
  });

  test('the same port twice', () => {
    expect(faultOf({ PORT: '8080', METRICS_PORT: '8080' })).toMatch(/METRICS_PORT: .*PORT/);
    expect(faultOf({ PORT: '0', METRICS_PORT: '0' })).toBe('no fault');
  });
});

test.each([
  ['2', true],
  ['loopback, linklocal,uniquelocal', true],
  ['10.0.0.0/255.0.0.0', true],
  ['fc00::/7, 192.168.0.0/16', true],
  ['10.0.0.0/0', false],
  ['10.0.0.0/255.0.255.0', false],
  ['10.0.0.1,', false],
])('TRUST_PROXY=%s is allowed: %s, as by Express', (value, isAllowed) => {
  const byExpress = () => express().set('trust proxy', /^\d+$/.test(value) ? Number(value) : value);
  if (isAllowed) {
    expect(loadConfig({ TRUST_PROXY: value }).http.trustProxy).toBe(value);
    expect(byExpress).not.toThrow();
  } else {
    expect(() => loadConfig({ TRUST_PROXY: value })).toThrow(/TRUST_PROXY: must be/);
    expect(byExpress).toThrow();
  }
});

describe('ports', () => {
  const http = { host: '127.0.0.1', port: 0, metricsHost: '127.0.0.1', metricsPort: 0 };

  test('a joining process is told of a busy METRICS_PORT, and of PORT only with the API', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(claimJoiningPorts({ ...http, metricsPort: port }, { withApi: false })).rejects.toThrow(
      /METRICS_PORT=…/,
    );
    await expect(claimJoiningPorts({ ...http, port }, { withApi: true })).rejects.toThrow(/ PORT=…/);
    await expect(claimJoiningPorts({ ...http, port }, { withApi: false })).resolves.toBe(0);
    taken.close();
  });

  test('an address of another machine is named by its variable', async () => {
    const elsewhere = '192.0.2.1';
    await expect(claimPorts({ ...http, host: elsewhere }, () => undefined)).rejects.toThrow(
      /^HOST 192\.0\.2\.1 is not/,
    );
    await expect(claimPorts({ ...http, metricsHost: elsewhere }, () => undefined)).rejects.toThrow(/^METRICS_HOST 192/);
  });
});
