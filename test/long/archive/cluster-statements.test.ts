import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { expect, inject, test } from 'vitest';
import { onCluster } from '../../../shared/clickhouse/clickhouse-client.ts';
import { statementsOf } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import '../../support/runner/provided-context.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../schemas/clickhouse');

test("each migration is ClickHouse's for a cluster, and otherwise the same", async () => {
  const clickhouse = createClient({ url: inject('clickhouseUrl') });
  /** The statement as ClickHouse's parser understands it; fails when it does not. */
  const parsed = async (statement: string): Promise<string> => {
    const query = 'SELECT formatQuerySingleLine({statement: String}) AS text';
    const result = await clickhouse.query({ query, query_params: { statement }, format: 'JSONEachRow' });
    return (await result.json<{ text: string }>())[0]!.text;
  };
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  const statements = files.flatMap((file) => statementsOf(readFileSync(join(MIGRATIONS, file), 'utf8')));
  for (const text of statements) {
    const clustered = await parsed(onCluster(text, 'forum'));
    // Rows that a migration adds are replicated with their table.
    expect(clustered).toMatch(/ ON CLUSTER forum|^INSERT INTO /);
    expect(clustered).not.toMatch(/ENGINE = (Replacing)?MergeTree/);
    const undone = clustered.replace(' ON CLUSTER forum', '').replace('ENGINE = Replicated', 'ENGINE = ');
    expect(undone).toBe(await parsed(text));
  }
  await clickhouse.close();
});
