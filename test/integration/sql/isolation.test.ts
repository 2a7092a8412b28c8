import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlDatabases } from '../../../shared/clickhouse/sql-databases.ts';
import { LISTED_FUNCTIONS } from '../../../shared/stores/sql/sql-functions.ts';
import { FOREIGN_SECRET, startSqlBench } from '../../support/fixtures/sql-bench.ts';
import type { SqlBench } from '../../support/fixtures/sql-bench.ts';
import { ENDLESS, GREEDY, HOSTILE, ORDINARY, QUOTING } from './hostile-statements.cases.ts';

let bench: SqlBench;
let names: { archive: string; sandbox: string };
beforeAll(async () => {
  bench = await startSqlBench();
  names = sqlDatabases(bench.archive.url);
});
afterAll(() => bench.stop());

const named = (statement: string): string =>
  statement
    .replaceAll('ARCHIVE', names.archive)
    .replaceAll('SANDBOX', names.sandbox)
    .replaceAll('MONITOR', bench.foreignMonitorId);

/** Failed statements use up a daily allowance. */
const forget = () => bench.db.pool.query('UPDATE sql_statements SET failed_ms = 0');

/** Nothing of another account, of a file, or of the inside of the service. */
function expectNothingForeign(text: string, statement: string): void {
  const echoed = text.replaceAll(JSON.stringify(statement).slice(1, -1), '');
  for (const foreign of [FOREIGN_SECRET, bench.foreignMonitorId, 'root:', 'Stack trace', 'clickhouse-main', '.sql:']) {
    if (statement.includes(foreign)) continue;
    expect(echoed, statement).not.toContain(foreign);
  }
}

describe('statements of a customer who wants more', () => {
  test(`at least 100 of them reach nothing (${HOSTILE.length})`, async () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(100);
    for (const statement of HOSTILE) {
      const reply = await bench.sql(named(statement));
      expect([400, 200], `${statement}: ${reply.text}`).toContain(reply.status);
      expectNothingForeign(reply.text, named(statement));
      if (reply.status === 400) expect(reply.text, statement).toMatch(/"message":"(?:query|body): /);
      await forget();
    }
    expect(existsSync('/tmp/stolen')).toBe(false);
  });

  test('those that name other tables, functions or clauses are refused before they run', async () => {
    // Those of the last part, a literal, and a name that is their own in the end.
    const allowed =
      /^(?:SELECT (?:\* FROM (?:matches WHERE|deliveries WHERE|matches FULL)|group|m\.\*|'\\)|WITH a AS \(SELECT \* FROM items\), items)/;
    const answered: string[] = [];
    for (const statement of HOSTILE.filter((one) => !allowed.test(one))) {
      if ((await bench.sql(named(statement))).status !== 400) answered.push(statement);
      await forget();
    }
    expect(answered).toEqual([]);
  });

  test('those whose errors quote values quote only their own', async () => {
    for (const statement of QUOTING) {
      const reply = await bench.sql(statement);
      expect([400, 200], `${statement}: ${reply.text}`).toContain(reply.status);
      expectNothingForeign(reply.text, statement);
      await forget();
    }
  });

  test('those that the engine could not interrupt are refused before they run', async () => {
    for (const statement of ENDLESS) {
      const reply = await bench.sql(statement);
      expect([reply.status, reply.text], statement).toEqual([
        400,
        expect.stringMatching(/must (?:write out|not use so)/),
      ]);
      await forget();
    }
  });

  test('greedy ones end within their limits, and the engine goes on', async () => {
    for (const statement of GREEDY) {
      const begun = performance.now();
      const reply = await bench.sql(statement);
      expect([200, 400, 503], `${statement.slice(0, 100)}: ${reply.text.slice(0, 300)}`).toContain(reply.status);
      expect(performance.now() - begun, statement.slice(0, 100)).toBeLessThan(60_000);
      await forget();
      expect((await bench.sql('SELECT 1')).status).toBe(200);
    }
  }, 240_000);

  test('nothing was written', async () => {
    const { rows } = (await bench.sql('SELECT count() FROM matches')).body as { rows: number[][] };
    expect(rows).toEqual([[20]]);
    const result = await bench.archive.client.query({
      query: 'SELECT count() AS n FROM matches',
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ n: 40 }]);
  });
});

test.each(ORDINARY)('works: %s', async (statement) => {
  const reply = await bench.sql(statement);
  expect(reply.status, reply.text).toBe(200);
  expect((reply.body.rows as unknown[]).length).toBeGreaterThan(0);
  expectNothingForeign(reply.text, statement);
});

test('every listed function is one of the engine', async () => {
  const result = await bench.archive.client.query({
    query: 'SELECT lower(name) AS name FROM system.functions',
    format: 'JSONEachRow',
  });
  const known = new Set((await result.json<{ name: string }>()).map(({ name }) => name));
  // What the parser itself makes.
  const parsed = new Set(['lambda', 'exists', 'dateadd', 'datesub']);
  expect(LISTED_FUNCTIONS.filter((name) => !known.has(name) && !parsed.has(name))).toEqual([]);
});
