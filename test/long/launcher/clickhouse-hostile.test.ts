import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READER_SETTINGS, WRITER_SETTINGS } from '../../../services/launcher/engines/clickhouse/allowed-settings.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { askClickhouse } from '../../support/clients/clickhouse-request.ts';
import { URL_PARAMETERS } from './clickhouse-hostile-parameters.cases.ts';
import { HOSTILE_DATA, REACHING_OUT, WRITING } from './clickhouse-hostile-statements.cases.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-hostile-sql-'));
const folder = join(root, 'files');
const secret = join(folder, 'secret.txt');
const file = join(folder, 'written');
const userFiles = join(root, 'data', 'clickhouse', 'user_files');
let engines: RunningEngines<'clickhouse'>;
/** An address to which no statement may connect. */
let connections = 0;
const outside = createServer();
outside.on('connection', (socket) => {
  connections++;
  socket.destroy();
});

beforeAll(async () => {
  mkdirSync(folder);
  writeFileSync(secret, 'the secret\n');
  outside.listen(0, '127.0.0.1');
  engines = await startEngines({ dataDir: join(root, 'data'), env: process.env, engines: ['clickhouse'] });
  await mustWrite('CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a');
  await mustWrite('INSERT INTO t VALUES (1)');
});
afterAll(async () => {
  await engines.stop();
  outside.close();
  rmSync(root, { recursive: true, force: true });
});

interface Answer {
  status: number;
  code: string | null;
  text: string;
}

async function ask(url: string, search: string, body?: string): Promise<Answer> {
  const init = body === undefined ? { method: 'GET' } : { method: 'POST', body };
  const response = await askClickhouse(`${url}/?${search}`, init);
  const code = response.headers.get('x-clickhouse-exception-code');
  return { status: response.status, code, text: await response.text() };
}

async function mustWrite(sql: string): Promise<string> {
  const answer = await ask(engines.urls.clickhouse, '', sql);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.text.trim();
}

const encoded = (sql: string) => `query=${encodeURIComponent(sql)}`;

function real(text: string): string {
  const outsideAt = `127.0.0.1:${(outside.address() as AddressInfo).port}`;
  return text
    .replaceAll('FILE', file)
    .replaceAll('SECRET', secret)
    .replaceAll('FOLDER', folder)
    .replaceAll('OUTSIDE', outsideAt);
}

/** Both ports by GET, and the read-only port by POST. */
async function askAsReader(search: string, sql: string): Promise<Answer[]> {
  const reader = engines.clickhouseReadOnlyUrl!;
  const writer = engines.urls.clickhouse;
  const byUrl = sql === '' ? search : `${search}&${encoded(sql)}`;
  return [await ask(reader, search, sql), await ask(reader, byUrl), await ask(writer, byUrl)];
}

/**
 * The codes of refusals: not allowed, or not a single statement. 80: the engine runs no SELECT with other statements.
 */
function expectRefused(answers: Answer[], what: string): void {
  for (const { text, status, code } of answers) {
    expect(text, what).not.toContain('the secret');
    expect(status, `${what}: ${text}`).toBeGreaterThanOrEqual(400);
    expect(code, `${what}: ${text}`).toMatch(/^(164|62|80)$/);
  }
}

async function expectUntouched(): Promise<void> {
  expect(readdirSync(folder)).toEqual(['secret.txt']);
  expect(readFileSync(secret, 'utf8')).toBe('the secret\n');
  expect(readdirSync(userFiles)).toEqual([]);
  expect(connections).toBe(0);
  expect(await mustWrite('SELECT groupArray(a) FROM t')).toBe('[1]');
  expect(await mustWrite('SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase()')).toBe(
    `['t']`,
  );
}

describe('on both ports of the embedded ClickHouse', () => {
  test('refuse statements that reach files, other servers or several statements at once', async () => {
    for (const sql of REACHING_OUT.map(real)) {
      expectRefused([...(await askAsReader('', sql)), await ask(engines.urls.clickhouse, '', sql)], sql);
    }
    await expectUntouched();
  });

  test('refuse settings and parameters of the URL that reach further than a statement', async () => {
    for (const [parameters, statement = 'SELECT 1'] of URL_PARAMETERS) {
      const given = new URLSearchParams();
      for (const pair of parameters.split('&')) {
        const [name = '', value = ''] = pair.split(/=(.*)/s).map(decodeURIComponent);
        given.append(name, real(value));
      }
      const search = given.toString();
      const sql = real(statement);
      expectRefused([...(await askAsReader(search, sql)), await ask(engines.urls.clickhouse, search, sql)], parameters);
    }
    await expectUntouched();
  });

  test('treat a body only as data', async () => {
    const { clickhouse } = engines.urls;
    for (const [query, body] of HOSTILE_DATA.map((pair) => pair.map(real) as typeof pair)) {
      const answers = [
        await ask(clickhouse, encoded(query), body),
        await ask(engines.clickhouseReadOnlyUrl!, encoded(query), body),
        await ask(clickhouse, '', `${query}\n${body}`),
      ];
      expectRefused(answers, `${query} ${body}`);
    }
    await expectUntouched();
  });

  test('apply the rules of the URL also to format and database in headers', async () => {
    for (const headers of [{ 'x-clickhouse-format': 'Protobuf' }, { 'x-clickhouse-database': folder }]) {
      for (const url of [engines.urls.clickhouse, engines.clickhouseReadOnlyUrl!]) {
        const response = await askClickhouse(url, { method: 'POST', body: 'SELECT 1 AS a', headers });
        await response.text();
        expect(response.headers.get('x-clickhouse-exception-code')).toBe('164');
      }
    }
    await expectUntouched();
  });
});

describe('readers of the embedded ClickHouse', () => {
  test('cannot write, nor lift their limits', async () => {
    for (const sql of WRITING) {
      expectRefused([...(await askAsReader('', sql)), ...(await askAsReader('readonly=0', sql))], sql);
    }
    await expectUntouched();
  });

  test('may choose only settings whose types cannot contain names or addresses', async () => {
    const rows = await mustWrite('SELECT name, type FROM system.settings');
    const types = new Map(rows.split('\n').map((row) => row.split('\t') as [string, string]));
    const texts = ['format_csv_null_representation', 'format_tsv_null_representation', 'log_comment'];
    const harmless = new Set([...texts, 'output_format_pretty_grid_charset', 'session_timezone']);
    const unknown = [...READER_SETTINGS].filter((name) => !types.has(name));
    expect(unknown).toEqual([]);
    const ofText = [...READER_SETTINGS, ...WRITER_SETTINGS].filter((name) =>
      /String|URI|Map/.test(types.get(name) ?? ''),
    );
    expect(ofText.filter((name) => !harmless.has(name))).toEqual(['insert_deduplication_token']);
  });
});

test('inserts of the services are accepted, with rows in the body and in the statement', async () => {
  await mustWrite('CREATE TABLE kept (a UInt8, b String) ENGINE = MergeTree ORDER BY a');
  try {
    const { clickhouse } = engines.urls;
    const rows = '{"a":1,"b":"x; DROP TABLE t\\n\\n"}\n{"a":2,"b":""}\n';
    expect(await ask(clickhouse, encoded('INSERT INTO kept FORMAT JSONEachRow'), rows)).toMatchObject({ status: 200 });
    expect(await ask(clickhouse, '', `INSERT INTO kept (a) FORMAT JSONEachRow\n{"a":3}`)).toMatchObject({
      status: 200,
    });
    expect(await ask(clickhouse, '', `insert into kept values (4, 'it''s; \\'x\\''), (5 , '');`)).toMatchObject({
      status: 200,
    });
    expect(await ask(clickhouse, 'param_t=kept', 'ALTER TABLE {t: Identifier} DELETE WHERE a = 3')).toMatchObject({
      status: 200,
    });
    const half = '9'.repeat(100);
    const large = Array.from({ length: 20_000 }, () => `{"a":6,"b":"${half}"}`).join('\n');
    expect(await ask(clickhouse, encoded('INSERT INTO kept FORMAT JSONEachRow'), large)).toMatchObject({ status: 200 });
    expect(await mustWrite('SELECT count() FROM kept WHERE a = 6')).toBe('20000');
  } finally {
    await mustWrite('DROP TABLE kept SYNC');
  }
});
