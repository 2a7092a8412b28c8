import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SCHEMA = join(ROOT, 'schemas/clickhouse');
const withoutComments = (sql: string) => sql.replaceAll(/^\s*--.*$/gm, '');
const schema = readdirSync(SCHEMA)
  .filter((file) => file.endsWith('.sql'))
  .map((file) => withoutComments(readFileSync(join(SCHEMA, file), 'utf8')))
  .join('\n');
const analyst = withoutComments(readFileSync(join(ROOT, 'deploy/clickhouse/analyst.sql'), 'utf8'));

const granted = new Set(Array.from(analyst.matchAll(/GRANT SELECT ON (\w+) TO forum_analyst;/g), ([, name]) => name!));
const views = new Map(
  Array.from(schema.matchAll(/CREATE OR REPLACE VIEW (\w+) AS([^;]+);/g), ([, name, text]) => [name!, text!]),
);

test('analysts may read every view, and every table that it reads with the rights of its caller', () => {
  expect(views.size).toBeGreaterThan(7);
  for (const [name, text] of views) {
    const read = Array.from(text.matchAll(/\b(?:FROM|JOIN)\s+(\w+)/g), ([, table]) => table!);
    expect(read.length, name).toBeGreaterThan(0);
    expect([name, ...read].filter((relation) => !granted.has(relation))).toEqual([]);
  }
});

test('what analysts may read exists', () => {
  const relations = new Set(
    Array.from(schema.matchAll(/CREATE (?:TABLE IF NOT EXISTS|OR REPLACE VIEW) (\w+)/g), ([, name]) => name!),
  );
  expect([...granted].filter((name) => !relations.has(name))).toEqual([]);
});

test('a statement of an analyst is bounded, changes nothing, and joins as the views rely on', () => {
  const [, text] = /ALTER SETTINGS PROFILE forum_analyst SETTINGS([^;]+);/.exec(analyst)!;
  const settings = Object.fromEntries(text!.split(',').map((line) => line.trim().split(' = ')) as [string, string][]);
  expect(settings).toMatchObject({
    readonly: '1',
    join_use_nulls: '0',
    do_not_merge_across_partitions_select_final: '0',
    timeout_overflow_mode: "'throw'",
    result_overflow_mode: "'throw'",
  });
  const limits = ['memory_usage', 'execution_time', 'threads', 'concurrent_queries_for_user', 'result_rows'];
  for (const limit of limits) expect(Number(settings[`max_${limit}`]), limit).toBeGreaterThan(0);
});
