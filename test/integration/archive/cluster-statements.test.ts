import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { expect, inject, test } from 'vitest';
import { onCluster } from '../../../shared/clickhouse/clickhouse-cluster.ts';
import { statementsOf } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import '../../support/runner/provided-context.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../schemas/clickhouse');

test("each migration is ClickHouse's for a cluster, and otherwise the same", async () => {
  const clickhouse = createClient({ url: inject('clickhouseUrl') });
  /** The statements as ClickHouse's parser understands them; fails when it does not. */
  const parsed = async (statements: string[]): Promise<string[]> => {
    const result = await clickhouse.query({
      query: 'SELECT formatQuerySingleLine(arrayJoin({statements: Array(String)})) AS text',
      query_params: { statements },
      format: 'JSONEachRow',
    });
    return (await result.json<{ text: string }>()).map(({ text }) => text);
  };
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  const statements = files.flatMap((file) => statementsOf(readFileSync(join(MIGRATIONS, file), 'utf8')));
  const plain = await parsed(statements);
  const clustered = await parsed(statements.map((statement) => onCluster(statement, 'forum')));
  for (const [index, statement] of clustered.entries()) {
    // Rows that a migration adds are replicated with their table.
    expect(statement).toMatch(/ ON CLUSTER forum|^INSERT INTO /);
    expect(statement).not.toMatch(/ENGINE = (Replacing)?MergeTree/);
    const undone = statement.replace(' ON CLUSTER forum', '').replace('ENGINE = Replicated', 'ENGINE = ');
    expect(undone).toBe(plain[index]);
  }
  expect(clustered).toHaveLength(statements.length);
  await clickhouse.close();
});
