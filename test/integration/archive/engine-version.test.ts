import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { expect, inject, test } from 'vitest';
import '../../support/runner/provided-context.ts';

const COMPOSE = join(import.meta.dirname, '../../../deploy/compose.yaml');

test('the image of ClickHouse is of the version that is tested', async () => {
  const tag = /image: clickhouse\/clickhouse-server:(\S+)/.exec(readFileSync(COMPOSE, 'utf8'))?.[1];
  const client = createClient({ url: inject('clickhouseUrl') });
  try {
    const answer = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
    const [{ version } = { version: '' }] = await answer.json<{ version: string }>();
    expect(version).toMatch(new RegExp(`^${tag}\\.`));
  } finally {
    await client.close();
  }
});
