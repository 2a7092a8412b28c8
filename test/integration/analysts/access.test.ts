import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { askClickhouse } from '../../support/clients/clickhouse-request.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-analyst-test-'));
let engines: RunningEngines<'clickhouse'>;

beforeAll(async () => {
  engines = await startEngines({ dataDir: join(root, 'data'), env: process.env, engines: ['clickhouse'] });
  await asWriter('CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a');
  await asWriter('INSERT INTO t VALUES (1)');
}, 60_000);
afterAll(async () => {
  await engines.stop();
  rmSync(root, { recursive: true, force: true });
});

interface Answer {
  status: number;
  code: string | null;
  text: string;
}

async function post(url: string, body: string | Uint8Array<ArrayBuffer>, headers = {}): Promise<Answer> {
  const response = await askClickhouse(url, { method: 'POST', body, headers });
  const code = response.headers.get('x-clickhouse-exception-code');
  return { status: response.status, code, text: await response.text() };
}

async function asWriter(sql: string): Promise<string> {
  const answer = await post(engines.urls.clickhouse, sql);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.text.trim();
}

function asReader(sql: string, search = ''): Promise<Answer> {
  return post(`${engines.clickhouseReadOnlyUrl!}/?${search}`, sql);
}

describe('a reader of the embedded ClickHouse', () => {
  test('has limits that can be lowered and not lifted', async () => {
    const limits = `SELECT getSetting('max_execution_time'), getSetting('max_result_rows'), getSetting('max_result_bytes'),
      getSetting('max_memory_usage'), getSetting('readonly')`;
    const standing = '30\t1000000\t268435456\t1073741824\t1\n';
    for (const search of ['', 'max_execution_time=0&max_result_rows=0', 'max_execution_time=600&max_memory_usage=-1']) {
      expect((await asReader(limits, search)).text).toBe(standing);
    }
    expect((await asReader(limits, 'max_execution_time=5')).text).toBe(standing.replace('30', '5'));
    expect(await asReader('SELECT number FROM numbers(3000000)')).toMatchObject({ code: '396' });
    expect(await asReader(`SELECT repeat('x', 400) FROM numbers(900000)`)).toMatchObject({ code: '396' });
    expect(await asReader('SELECT length(groupArray(number)) FROM numbers(1000000000)')).toMatchObject({ code: '241' });
    const endless = 'SELECT count() FROM numbers(100000000000000) WHERE sipHash64(number) = 1';
    expect(await asReader(endless, 'max_execution_time=1')).toMatchObject({ status: 408, code: '159' });
    const long = `SELECT 1 -- ${' '.repeat(2 ** 20)}`;
    expect(await asReader(long)).toMatchObject({ code: '307' });
    const packed = await post(engines.clickhouseReadOnlyUrl!, gzipSync(long), { 'content-encoding': 'gzip' });
    expect(packed).toMatchObject({ code: '307' });
  });

  test.each([
    'INSERT INTO t VALUES (2)',
    'ALTER TABLE t DELETE WHERE a = 1',
    'DROP TABLE t',
    'CREATE TABLE u (a UInt8) ENGINE = Memory',
    'SET readonly = 0',
    'SELECT 1; DROP TABLE t',
    'SELECT 1 SETTINGS readonly = 0',
  ])('changes nothing by %s', async (sql) => {
    expect((await asReader(sql)).status).not.toBe(200);
    expect((await asReader(sql, 'readonly=0')).status).not.toBe(200);
    expect(await asWriter('SELECT count() FROM t')).toBe('1');
  });

  test('asks with parameters, in any format of text, and is told what is wrong', async () => {
    const reply = await asReader(
      'SELECT a, {x: String} FROM t',
      `param_x=${encodeURIComponent("it's; x")}&session_id=any`,
    );
    expect(reply).toMatchObject({ status: 200, text: `1\tit\\'s; x\n` });
    expect(await asReader('SELECT a AS file FROM t FORMAT TSVWithNames')).toMatchObject({ text: 'file\n1\n' });
    expect(await asReader('SELECT a FRM t WHERE')).toMatchObject({ status: 400, code: '62' });
  });
});

test('ClickHouse reads each statement that gives analysts access on a server', async () => {
  const file = readFileSync(join(import.meta.dirname, '../../../deploy/clickhouse/analyst.sql'), 'utf8');
  const statements = file
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .filter((text) => text.trim() !== '');
  expect(statements.length).toBeGreaterThan(15);
  for (const statement of statements) {
    await asWriter(`SELECT formatQuery('${statement.replaceAll("'", String.raw`\'`)}')`);
  }
  // The settings of the profile, which the engine knows and whose values it takes.
  const [, settings] = /ALTER SETTINGS PROFILE forum_analyst (SETTINGS[^;]+)/.exec(file)!;
  expect(await asWriter(`SELECT 1 ${settings}`)).toBe('1');
});
