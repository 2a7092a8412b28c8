import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let archive: TestArchive;
let forum: TestForum;

beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  archive = await createTestArchive(db.pool);
});

afterAll(async () => {
  await forum.stop();
  await archive.drop();
  await db.drop();
});

test('answers 503 while ClickHouse hangs and leaves no query that uses or awaits a connection', async () => {
  const proxy = await TcpProxy.start(archive.url);
  const client = createClickhouse(proxy.url, 'test');
  const silent = await startTestApi(db.pool, { forum: forum.forum, clickhouse: client });
  try {
    const { apiKey } = await silent.account();
    proxy.delayAnswers(60_000);
    // Two more than the client has connections.
    const searches = Array.from({ length: 12 }, () => silent.call(apiKey, 'GET', '/v1/forum/search/comments?q=quick'));
    expect((await Promise.all(searches)).map(({ status }) => status)).toEqual(searches.map(() => 503));
    await eventually('no connection is in use', () => proxy.connections === 0);
    proxy.delayAnswers(0);
    expect((await silent.call(apiKey, 'GET', '/v1/forum/search/comments?q=quick')).status).toBe(200);
  } finally {
    await silent.stop();
    await client.close();
    await proxy.stop();
  }
});
