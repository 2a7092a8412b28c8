import { afterAll, beforeAll, expect, test } from 'vitest';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';
import { startSqlBench } from '../../support/fixtures/sql-bench.ts';
import type { SqlBench } from '../../support/fixtures/sql-bench.ts';

let bench: SqlBench;
let person: DashboardVisitor;
beforeAll(async () => {
  bench = await startSqlBench();
  person = await visitDashboard(bench.db.pool, bench.api.url, bench.owner.accountId);
});
afterAll(() => bench.stop());

test('shows the rows of a statement, what it cost, and escapes what the forum wrote', async () => {
  const query = `SELECT '<b>x</b>' AS "<i>", count() AS n, NULL AS nothing FROM matches`;
  const refused = await person.post('/sql', { query, format: 'json' });
  expect([refused.status, refused.html.includes('<i>')]).toEqual([400, false]);
  const page = await person.post('/sql', { query: query.replace('"<i>"', 'a'), format: 'json' });
  expect(page.status).toBe(200);
  expect(page.html).toContain('&lt;b&gt;x&lt;/b&gt;');
  expect(page.html).toMatch(/1 rows\s*\. It cost 1 credit\s*\./);
  expect(page.html).toMatch(/<td>20<\/td>/);
});

test('shows as many rows as a page can hold', async () => {
  const rows = Array.from({ length: 200 }, (_, number) => number).join(', ');
  const cell = `concat(${Array(30).fill('l').join(', ')})`;
  const query = `SELECT ${cell} AS x FROM (SELECT '${'<'.repeat(4_000)}' AS l, arrayJoin([${rows}]) AS n)`;
  const page = await person.post('/sql', { query, format: 'json' });
  expect(page.status).toBe(200);
  expect(page.html).toMatch(/200 rows; the first [1-9] are shown/);
  expect(page.html.length).toBeLessThan(4_000_000);
});

test('gives the rows as a file', async () => {
  const file = await person.post('/sql', { query: 'SELECT seq FROM matches ORDER BY seq LIMIT 2', format: 'csv' });
  expect(file.headers.get('content-disposition')).toContain('attachment');
  expect(file.html).toBe('"seq"\n1\n2\n');
});
