import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  FORBIDDEN_FUNCTIONS,
  HARMLESS_TABLE_FUNCTIONS,
} from '../../shared/engines/clickhouse-server/read-only-statement.ts';
import { startEngines } from '../../shared/engines/embedded-engines.ts';
import type { RunningEngines } from '../../shared/engines/embedded-engines.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-analyst-test-'));
const secret = join(root, 'secret.txt');
let engines: RunningEngines<'clickhouse'>;
/** An address that nothing may reach out to. */
let asked = 0;
const outside = createServer((_, response) => {
  asked++;
  response.end('1');
});
let outsideAt: string;

beforeAll(async () => {
  writeFileSync(secret, 'the secret\n');
  outside.listen(0, '127.0.0.1');
  engines = await startEngines({ dataDir: join(root, 'data'), env: process.env, engines: ['clickhouse'] });
  outsideAt = `127.0.0.1:${(outside.address() as AddressInfo).port}`;
  await asWriter('CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a');
  await asWriter('INSERT INTO t VALUES (1)');
  // Once the engine has taken a file for a table, it gives it to readers too.
  expect(await asWriter(`SELECT * FROM '${secret}'`)).toBe('the secret');
}, 60_000);
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

async function post(url: string, body: string | Uint8Array<ArrayBuffer>, headers = {}): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body, headers });
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

/** GET only reads on the other port too: a link in a page may lead there. */
async function byGet(sql: string): Promise<Answer> {
  const response = await fetch(`${engines.urls.clickhouse}/?query=${encodeURIComponent(sql)}`);
  const code = response.headers.get('x-clickhouse-exception-code');
  return { status: response.status, code, text: await response.text() };
}

/** FILE, SECRET and OUTSIDE stand for a file to be written, one to be read, and an address. */
const HOSTILE = [
  'INSERT INTO t VALUES (2)',
  'INSERT INTO t SELECT 2',
  `INSERT INTO FUNCTION file('FILE', 'CSV', 'a UInt8') VALUES (1)`,
  `INSERT INTO FUNCTION url('http://OUTSIDE/', 'CSV', 'a UInt8') VALUES (1)`,
  'ALTER TABLE t DELETE WHERE 1',
  'ALTER TABLE t ADD COLUMN b UInt8',
  'DELETE FROM t WHERE 1',
  'UPDATE t SET a = 2 WHERE 1',
  'DROP TABLE t',
  'DROP DATABASE default',
  'UNDROP TABLE t',
  'CREATE TABLE u (a UInt8) ENGINE = Memory',
  'CREATE TEMPORARY TABLE u (a UInt8)',
  'CREATE VIEW v AS SELECT 1',
  'CREATE DATABASE d',
  'CREATE FUNCTION f AS x -> x',
  'CREATE NAMED COLLECTION n AS a = 1',
  `CREATE USER u IDENTIFIED BY 'u'`,
  'GRANT SELECT ON *.* TO default',
  'SET max_threads = 1',
  'SET readonly = 0',
  'SET readonly = DEFAULT',
  'USE system',
  'SYSTEM SHUTDOWN',
  'SYSTEM STOP MERGES',
  'SYSTEM FLUSH LOGS',
  'KILL QUERY WHERE 1',
  'KILL MUTATION WHERE 1',
  'OPTIMIZE TABLE t FINAL',
  'TRUNCATE TABLE t',
  'RENAME TABLE t TO u',
  'EXCHANGE TABLES t AND t',
  'ATTACH TABLE u',
  'DETACH TABLE t',
  `BACKUP TABLE t TO File('FILE')`,
  `RESTORE TABLE t FROM File('SECRET')`,
  'BEGIN TRANSACTION',
  'DROP TABLE t PARALLEL WITH DROP TABLE t',
  'SELECT 1; DROP TABLE t',
  '(SELECT 1); DROP TABLE t',
  `SELECT /* /* */ ' */ 1; DROP TABLE t --'`,
  `SELECT $a$ ' $a$; DROP TABLE t --'`,
  'SELECT 1 PARALLEL WITH DROP TABLE t',
  `SELECT 1 INTO OUTFILE 'FILE'`,
  `SELECT 1 /* x */ into /* y */ outfile /* z */ 'FILE' TRUNCATE`,
  `EXPLAIN SELECT 1 INTO OUTFILE 'FILE'`,
  `SELECT * FROM file('SECRET', 'LineAsString', 'a String')`,
  `SELECT * FROM FILE('SECRET', 'LineAsString', 'a String')`,
  `WITH x AS (SELECT * FROM file('SECRET', 'LineAsString', 'a String')) SELECT * FROM x`,
  `SELECT file('SECRET')`,
  "SELECT `file`('SECRET')",
  'SELECT /* f */ "file" /* g */ (\'SECRET\')',
  `DESCRIBE TABLE file('SECRET', 'LineAsString')`,
  `SELECT * FROM 'SECRET'`,
  'SELECT * FROM `SECRET`',
  'SELECT * FROM default."SECRET"',
  `DESCRIBE 'SECRET'`,
  "SELECT 'a' IN `SECRET`",
  `SELECT * FROM filesystem('/')`,
  `SELECT * FROM sqlite('FILE', 't')`,
  `SELECT * FROM executable('id', 'LineAsString', 'a String')`,
  `SELECT * FROM url('http://OUTSIDE/', 'LineAsString', 'a String')`,
  `DESCRIBE TABLE url('http://OUTSIDE/', 'LineAsString')`,
  `SELECT * FROM s3('http://OUTSIDE/b/k', 'LineAsString', 'a String')`,
  `DESCRIBE TABLE s3('http://OUTSIDE/b/k')`,
  `SELECT * FROM deltaLake('http://OUTSIDE/b/k')`,
  `SELECT * FROM remote('OUTSIDE', system.one)`,
  `SELECT * FROM postgresql('OUTSIDE', 'd', 't', 'u', 'p')`,
  `SELECT * FROM mysql('OUTSIDE', 'd', 't', 'u', 'p')`,
  `SELECT * FROM redis('OUTSIDE', 'a', 'a String, b String')`,
  'SELECT * FROM loop(t)',
  `SELECT * FROM fuzzJSON('{}')`,
  'SELECT 1 SETTINGS readonly = 0',
  'SELECT 1 SETTINGS readonly = DEFAULT, max_result_rows = DEFAULT',
  'SELECT 1 FROM (SELECT 1 SETTINGS max_execution_time = DEFAULT)',
  'SELECT 1 FORMAT JSON SETTINGS max_memory_usage = DEFAULT',
];

describe('a reader of the embedded ClickHouse', () => {
  it.each(HOSTILE)('cannot: %s', async (statement) => {
    const file = join(root, 'written.txt');
    const sql = statement.replace('FILE', file).replace('SECRET', secret).replace('OUTSIDE', outsideAt);
    for (const answer of [await asReader(sql), await asReader(sql, 'readonly=0'), await byGet(sql)]) {
      expect(answer.text).not.toContain('the secret');
      expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
      // Refused as not allowed, or as no single statement; 80: the engine runs no SELECT beside others.
      expect(answer.code).toMatch(/^(164|62|80)$/);
    }
    expect([existsSync(file), asked]).toEqual([false, 0]);
    expect(await asWriter('SELECT groupArray(a) FROM t')).toBe('[1]');
  });

  it('cannot write through the URL either, nor choose settings that are not about how an answer looks', async () => {
    for (const search of [
      'allow_ddl=1',
      'dialect=prql',
      'format_template_row=x',
      'max_parser_depth=100000',
      'constructor=1',
    ]) {
      expect(await asReader('SELECT 1', search), search).toMatchObject({ code: '164' });
    }
    expect(await asReader('', 'query=DROP+TABLE+t')).toMatchObject({ code: '164' });
    expect(await asReader('VALUES (2)', 'query=INSERT+INTO+t')).toMatchObject({ code: '164' });
    expect(await asReader('SELECT 1', `max_result_rows=1',readonly='0`)).toMatchObject({ status: 200 });
    expect(await asWriter('SELECT count() FROM t')).toBe('1');
  });

  it('reads no file by a bare name, because the folder of the engine is empty', async () => {
    for (const name of ['secret.txt', 'ports.json', 'lock']) {
      expect(await asReader(`SELECT * FROM "${name}"`)).toMatchObject({ code: '60' });
    }
  });

  it('has limits that can be lowered and not lifted', async () => {
    const limits = `SELECT getSetting('max_execution_time'), getSetting('max_result_rows'), getSetting('max_result_bytes'),
      getSetting('max_memory_usage'), getSetting('readonly')`;
    const standing = '30\t1000000\t268435456\t1073741824\t1\n';
    for (const search of ['', 'max_execution_time=0&max_result_rows=0', 'max_execution_time=600&max_memory_usage=-1']) {
      expect((await asReader(limits, search)).text).toBe(standing);
    }
    expect((await asReader(limits, 'max_execution_time=5')).text).toBe(standing.replace('30', '5'));
    expect(await asReader('SELECT number FROM numbers(3000000)')).toMatchObject({ code: '396' });
    for (const value of [`repeat('x', 400)`, `materialize(repeat('x', 400))`]) {
      expect(await asReader(`SELECT ${value} FROM numbers(900000)`)).toMatchObject({ code: '396' });
    }
    expect(await asReader('SELECT length(groupArray(number)) FROM numbers(1000000000)')).toMatchObject({ code: '241' });
    const endless = 'SELECT count() FROM numbers(100000000000000) WHERE sipHash64(number) = 1';
    expect(await asReader(endless, 'max_execution_time=1')).toMatchObject({ status: 408, code: '159' });
    const long = `SELECT 1 -- ${' '.repeat(2 ** 20)}`;
    expect(await asReader(long)).toMatchObject({ code: '307' });
    const packed = await post(engines.clickhouseReadOnlyUrl!, gzipSync(long), { 'content-encoding': 'gzip' });
    expect(packed).toMatchObject({ code: '307' });
  });

  it('may read whatever else it says, words of refused statements in strings and names included', async () => {
    const harmless: [sql: string, answer: string][] = [
      [
        `SELECT 'INTO OUTFILE; file(SETTINGS) /etc', 'it''s \\'; DROP TABLE t' FORMAT JSONCompactEachRow;`,
        '["INTO OUTFILE; file(SETTINGS) \\/etc", "it\'s \'; DROP TABLE t"]\n',
      ],
      ['SELECT a AS file, a AS settings, a AS url FROM t FORMAT TSVWithNames', 'file\tsettings\turl\n1\t1\t1\n'],
      ['(SELECT a FROM t) UNION ALL (SELECT 1)', '1\n1\n'],
      ['WITH 3 AS x SELECT x + a FROM t -- ; DROP TABLE t', '4\n'],
      ['FROM t SELECT a', '1\n'],
      ["SELECT '\\\\ \\t /',\r\n\t1", '\\\\ \\t /\t1\n'],
      ['SHOW TABLES', 't\n'],
      ['EXISTS TABLE t', '1\n'],
      ['SELECT count() FROM numbers(10)', '10\n'],
      ['SELECT a, {x: String} FROM t', `1\tit\\'s; x\n`],
    ];
    for (const [sql, text] of harmless) {
      expect(await asReader(sql, `param_x=${encodeURIComponent("it's; x")}&session_id=any`)).toMatchObject({
        status: 200,
        text,
      });
    }
    expect(await asReader('DESCRIBE t')).toMatchObject({ status: 200 });
    expect(await asReader('EXPLAIN SELECT a FROM t')).toMatchObject({ status: 200 });
    const wrong = await asReader('SELECT a FRM t WHERE');
    expect(wrong).toMatchObject({ status: 400, code: '62' });
    expect(wrong.text).not.toContain('formatQuery');
  });

  it('may use the official client, with parameters and settings of its own', async () => {
    const client = createClient({ url: engines.clickhouseReadOnlyUrl!, log: { level: ClickHouseLogLevel.OFF } });
    const result = await client.query({
      query: 'SELECT a FROM t WHERE a = {a: UInt8}',
      query_params: { a: 1 },
      clickhouse_settings: { max_execution_time: 5, output_format_json_quote_64bit_integers: 0 },
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ a: 1 }]);
    await expect(client.command({ query: 'DROP TABLE t' })).rejects.toMatchObject({ code: '164' });
    await expect(client.insert({ table: 't', values: [{ a: 2 }], format: 'JSONEachRow' })).rejects.toMatchObject({
      code: '164',
    });
    await client.close();
  });

  it('knows every table function of this engine either as harmless or as refused', async () => {
    const names = (await asWriter('SELECT name FROM system.table_functions')).split('\n');
    expect(names.length).toBeGreaterThan(50);
    const unknown = names.filter(
      (name) => !HARMLESS_TABLE_FUNCTIONS.has(name) && !FORBIDDEN_FUNCTIONS.has(name.toLowerCase()),
    );
    expect(unknown).toEqual([]);
    expect([...HARMLESS_TABLE_FUNCTIONS].filter((name) => FORBIDDEN_FUNCTIONS.has(name.toLowerCase()))).toEqual([]);
  });
});
