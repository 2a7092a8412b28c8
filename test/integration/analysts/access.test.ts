import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  FORBIDDEN_FUNCTIONS,
  FORMAT_FUNCTION,
  HARMLESS_TABLE_FUNCTIONS,
} from '../../../services/launcher/engines/clickhouse/functions.ts';
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

  test('may use words of refused statements in strings and names', async () => {
    const harmless: [sql: string, answer: string][] = [
      [
        `SELECT 'INTO OUTFILE; file(SETTINGS) /etc', 'it''s \\'; DROP TABLE t' FORMAT JSONCompactEachRow;`,
        '["INTO OUTFILE; file(SETTINGS) \\/etc", "it\'s \'; DROP TABLE t"]\n',
      ],
      ['SELECT a AS file, a AS settings, a AS url FROM t FORMAT TSVWithNames', 'file\tsettings\turl\n1\t1\t1\n'],
      ['WITH 3 AS x SELECT x + a FROM t -- ; DROP TABLE t', '4\n'],
      ["SELECT '\\\\ \\t /',\r\n\t1", '\\\\ \\t /\t1\n'],
      ['SHOW TABLES', 't\n'],
      ['SELECT a, {x: String} FROM t', `1\tit\\'s; x\n`],
    ];
    for (const [sql, text] of harmless) {
      expect(await asReader(sql, `param_x=${encodeURIComponent("it's; x")}&session_id=any`)).toMatchObject({
        status: 200,
        text,
      });
    }
    expect(await asReader('EXPLAIN SELECT a FROM t')).toMatchObject({ status: 200 });
    const wrong = await asReader('SELECT a FRM t WHERE');
    expect(wrong).toMatchObject({ status: 400, code: '62' });
    expect(wrong.text).not.toContain('formatQuery');
  });

  test('has a decision for every table function of this engine: harmless or refused', async () => {
    const names = (await asWriter('SELECT name FROM system.table_functions')).split('\n');
    expect(names.length).toBeGreaterThan(50);
    const unknown = names.filter(
      (name) => !HARMLESS_TABLE_FUNCTIONS.has(name) && !FORBIDDEN_FUNCTIONS.has(name.toLowerCase()),
    );
    expect(unknown).toEqual([FORMAT_FUNCTION]);
    expect([...HARMLESS_TABLE_FUNCTIONS].filter((name) => FORBIDDEN_FUNCTIONS.has(name.toLowerCase()))).toEqual([]);
  });
});
