import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { countStatements } from '../../support/clients/count-statements.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let archive: TestArchive;
let proxy: TcpProxy;
let clickhouse: ClickHouseClient;
let api: TestApi;
let sent: { statements: number };

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  proxy = await TcpProxy.start(archive.url);
  clickhouse = createClickhouse(proxy.url, 'test');
  sent = countStatements(clickhouse);
  api = await startTestApi(db.pool, { clickhouse });
});
afterAll(async () => {
  await api.stop();
  await clickhouse.close();
  await proxy.stop();
  await archive.drop();
  await db.drop();
});

const preview = (settings: object, key: string): Promise<Reply> =>
  api.call(key, 'POST', '/v1/monitors/preview', { settings });

test.each(['application/json', 'text/event-stream'])(
  'a preview ends when its client disconnects (%s)',
  async (accept) => {
    const { apiKey } = await api.account({ pack: 0 });
    const settings = { keywords: ['zinc'] };
    await preview(settings, apiKey);
    sent.statements = 0;
    await preview(settings, apiKey);
    const whole = sent.statements;
    proxy.freeze();
    const client = new AbortController();
    const abandoned = fetch(`${api.url}/v1/monitors/preview`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, accept, 'content-type': 'application/json' },
      body: JSON.stringify({ settings }),
      signal: client.signal,
    }).then((reply) => reply.text());
    await eventually('it asks the archive', () => sent.statements > whole);
    client.abort();
    await expect(abandoned).rejects.toThrow();
    // The archive still hangs, and the account's only place is free.
    let again: Promise<Reply> | undefined;
    sent.statements = 0;
    const isFree = async () => {
      const asked = preview(settings, apiKey);
      const answer = { isThere: false };
      void asked.then(() => (answer.isThere = true));
      // Only one that has a place asks the archive, and waits for it.
      while (!answer.isThere && sent.statements === 0) await delay(10);
      if (sent.statements > 0) again = asked;
      return again !== undefined;
    };
    // A read of an archive that hangs fails after 5 s.
    await eventually('its place is free', isFree, 4_000);
    proxy.thaw();
    expect((await again)?.status).toBe(200);
    expect(sent.statements, 'the abandoned one asks nothing more').toBe(whole);
  },
);
