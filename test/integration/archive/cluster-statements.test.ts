import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { onCluster } from '../../../shared/clickhouse/clickhouse-cluster.ts';
import { statementsOf } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import '../../support/runner/provided-context.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../schemas/clickhouse');
const STATEMENTS = readdirSync(MIGRATIONS)
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .flatMap((file) => statementsOf(readFileSync(join(MIGRATIONS, file), 'utf8')).map((text) => ({ file, text })));

let clickhouse: ClickHouseClient;

beforeAll(() => {
  clickhouse = createClient({ url: inject('clickhouseUrl') });
});

afterAll(() => clickhouse.close());

/** The statement as ClickHouse's parser understands it; fails when it does not. */
async function parsed(statement: string): Promise<string> {
  const result = await clickhouse.query({
    query: 'SELECT formatQuerySingleLine({statement: String}) AS text',
    query_params: { statement },
    format: 'JSONEachRow',
  });
  return (await result.json<{ text: string }>())[0]!.text;
}

test.each(STATEMENTS.map(({ file, text }, index) => [file, index, text] as const))(
  "%s, statement %i, is ClickHouse's for a cluster, and otherwise the same",
  async (_, __, text) => {
    const clustered = await parsed(onCluster(text, 'forum'));
    // Rows that a migration adds are replicated with their table.
    expect(clustered).toMatch(/ ON CLUSTER forum|^INSERT INTO /);
    expect(clustered).not.toMatch(/ENGINE = (Replacing)?MergeTree/);
    const undone = clustered.replace(' ON CLUSTER forum', '').replace('ENGINE = Replicated', 'ENGINE = ');
    expect(undone).toBe(await parsed(text));
  },
);
