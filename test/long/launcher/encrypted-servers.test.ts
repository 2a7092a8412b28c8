import { execFile } from 'node:child_process';
import { chownSync, copyFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { migratePostgres } from '../../../shared/postgres/migrate-postgres.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { canMakeCertificates, makeCertificates } from '../../support/fixtures/encrypted/certificates.ts';
import type { Certificates } from '../../support/fixtures/encrypted/certificates.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

const ROOT = join(import.meta.dirname, '../../..');
const logger = silentLogger();

/** Without openssl there are no certificates, and these tests are skipped. */
describe.skipIf(!canMakeCertificates)('servers that encrypt', () => {
  let folder: string;
  let engines: RunningEngines<'postgres' | 'clickhouse'>;
  let certificates: Certificates;
  let others: Certificates;
  let front: Server;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'forum-test-tls-'));
    certificates = makeCertificates(folder);
    mkdirSync(join(folder, 'others'));
    others = makeCertificates(join(folder, 'others'));
    engines = await startEngines({ dataDir: folder, env: process.env, engines: ['postgres', 'clickhouse'] });
    await encryptPostgres();
    front = await encryptClickhouse();
  });

  afterAll(async () => {
    front.close();
    front.closeAllConnections();
    await engines.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Gives the server its certificate, which it reads when its settings are read again. */
  async function encryptPostgres(): Promise<void> {
    const home = join(folder, 'postgres', 'data');
    const { uid, gid } = statSync(home);
    for (const [from, name] of [
      [certificates.certificate, 'server.crt'],
      [certificates.key, 'server.key'],
    ] as const) {
      copyFileSync(from, join(home, name));
      chmodSync(join(home, name), 0o600);
      chownSync(join(home, name), uid, gid);
    }
    const pool = createPool({ url: engines.urls.postgres, name: 'test', logger });
    await pool.query('ALTER SYSTEM SET ssl = on');
    await pool.query('SELECT pg_reload_conf()');
    await pool.end();
  }

  /** The embedded engine speaks plain HTTP, so TLS ends before it, as at a load balancer. */
  async function encryptClickhouse(): Promise<Server> {
    const { port } = new URL(engines.urls.clickhouse);
    const files = { cert: readFileSync(certificates.certificate), key: readFileSync(certificates.key) };
    const server = createServer(files, (incoming, answer) => {
      const { method, headers, url: path } = incoming;
      const onward = request({ host: '127.0.0.1', port, method, headers, path }, (reply) => {
        answer.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(answer);
      });
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** The URL of the server by a host name, with these settings of its encryption. */
  function postgresUrl(rootCertificate: string, host = 'localhost'): string {
    const url = new URL(engines.urls.postgres);
    url.hostname = host;
    url.search = `sslmode=verify-full&sslrootcert=${rootCertificate}`;
    return url.href;
  }

  function clickhouseUrl(host = 'localhost'): string {
    const url = new URL(engines.urls.clickhouse);
    return `https://${url.username}:${url.password}@${host}:${(front.address() as AddressInfo).port}`;
  }

  /** What a start of a service prints, and its exit code. */
  function start(given: Record<string, string>): Promise<{ code: number | null; printed: string }> {
    const nowhere = {
      KAFKA_BROKERS: '127.0.0.1:9',
      DATABASE_URL: 'postgres://u:p@127.0.0.1:9/forum',
      CLICKHOUSE_URL: 'http://127.0.0.1:9',
    };
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: join(folder, 'data'), METRICS_PORT: '0', ...nowhere, ...given };
    return new Promise((resolve) => {
      const args = ['services/main.ts', 'biller'];
      const child = execFile(process.execPath, args, { cwd: ROOT, env, timeout: 100_000 }, (_, stdout, stderr) => {
        resolve({ code: child.exitCode, printed: stdout + stderr });
      });
    });
  }

  function secrets(): string[] {
    return [engines.urls.postgres, engines.urls.clickhouse].map((url) => new URL(url).password);
  }

  test('Postgres is reached over TLS by the pool and by migrations', async () => {
    await migratePostgres(postgresUrl(certificates.ca), logger);
    const pool = createPool({ url: postgresUrl(certificates.ca), name: 'test', logger });
    const { rows } = await pool.query<{ ssl: boolean; version: string }>(
      'SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    await pool.end();
    expect(rows).toEqual([{ ssl: true, version: 'TLSv1.3' }]);
  });

  test('ClickHouse is reached over TLS', async () => {
    const client = createClickhouse(clickhouseUrl(), 'test', { caFile: certificates.ca });
    const result = await client.query({ query: 'SELECT 1 AS one', format: 'JSONEachRow' });
    expect(await result.json()).toEqual([{ one: 1 }]);
    await client.close();
  });

  test.each([
    ['another authority', () => ({ DATABASE_URL: postgresUrl(others.ca) }), /^DATABASE_URL: .*certificate is refused/m],
    [
      'another name',
      () => ({ DATABASE_URL: postgresUrl(certificates.ca, '127.0.0.1') }),
      /^DATABASE_URL: .*ERR_TLS_CERT_ALTNAME_INVALID/m,
    ],
    [
      'no such file',
      () => ({ DATABASE_URL: postgresUrl('/nowhere/ca.pem') }),
      /^DATABASE_URL: a file that it names cannot be read .*\/nowhere\/ca\.pem/m,
    ],
    [
      'another authority of ClickHouse',
      () => ({ CLICKHOUSE_URL: clickhouseUrl(), CLICKHOUSE_CA_FILE: others.ca }),
      /^CLICKHOUSE_URL: .*certificate is refused/m,
    ],
    [
      'no authority of ClickHouse',
      () => ({ CLICKHOUSE_URL: clickhouseUrl() }),
      /^CLICKHOUSE_URL: .*certificate is refused/m,
    ],
  ])('a start with %s is refused with one message, without secrets', async (_, env, message) => {
    const { code, printed } = await start(env());
    expect(code).toBe(1);
    expect(printed).toMatch(message);
    expect(printed.match(/^\w+_URL: the server's certificate|^\w+_URL: a file/gm)).toHaveLength(1);
    for (const secret of secrets()) expect(printed).not.toContain(secret);
  });

  test('a start that asks a server for TLS that has none is refused', async () => {
    const plain = await createPlainServer();
    try {
      const { code, printed } = await start({ DATABASE_URL: `${plain.url}?sslmode=verify-full` });
      expect([code, /^DATABASE_URL: the server does not encrypt\.$/m.test(printed)]).toEqual([1, true]);
    } finally {
      await plain.stop();
    }
  });

  async function createPlainServer(): Promise<{ url: string; stop(): Promise<void> }> {
    const own = await startEngines({ dataDir: join(folder, 'plain'), env: process.env, engines: ['postgres'] });
    return { url: own.urls.postgres, stop: () => own.stop() };
  }
});
