import { randomBytes } from 'node:crypto';
import { createClient } from '@clickhouse/client';
import { inject } from 'vitest';
import './provided-context.ts';

const PREFIX = 'forum_test_';

export interface TestClickhouse {
  /** With the database as its path. */
  url: string;
  drop(): Promise<void>;
}

/** A fresh, empty ClickHouse database of this test file alone; the test migrates it. */
export async function createTestClickhouse(): Promise<TestClickhouse> {
  const name = PREFIX + randomBytes(6).toString('hex');
  const administratorUrl = inject('clickhouseUrl');
  const administrator = createClient({ url: administratorUrl });
  await administrator.command({ query: `CREATE DATABASE ${name}` });
  const url = new URL(administratorUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      await administrator.command({ query: `DROP DATABASE IF EXISTS ${name} SYNC` });
      await administrator.close();
    },
  };
}
