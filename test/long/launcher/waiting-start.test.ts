import { afterEach, expect, inject, test } from 'vitest';
import { ServiceProcess } from '../../support/children/service-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { createTestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { uniquePrefix } from '../../support/fixtures/unique-prefix.ts';
import '../../support/runner/provided-context.ts';

let waiting: ServiceProcess | undefined;
afterEach(() => waiting?.stop());

test('a process whose engines are away is alive, says what it waits for, and stops when it is told to', async () => {
  const [kafka, postgres, clickhouse, metrics] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  waiting = new ServiceProcess('recorder', {
    PATH: process.env.PATH,
    KAFKA_BROKERS: `127.0.0.1:${kafka}`,
    DATABASE_URL: `postgres://nobody:nothing@127.0.0.1:${postgres}/nowhere`,
    CLICKHOUSE_URL: `http://127.0.0.1:${clickhouse}`,
    METRICS_PORT: String(metrics),
  });
  waiting.start();
  const ask = (path: string) => fetch(`http://127.0.0.1:${metrics}${path}`);
  await eventually('it answers', async () => (await ask('/healthz')).ok);
  const ready = await ask('/readyz');
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({
    ready: false,
    parts: { postgres: false, clickhouse: false, kafka: false, recorder: false },
  });
  await eventually('its metrics name what it waits for', async () => {
    const shown = await (await ask('/metrics')).text();
    return ['postgres', 'kafka'].every((engine) => shown.includes(`engine_away{engine="${engine}",work="start"} 1`));
  });
  await waiting.stop();
  expect(waiting.ownEnds).toBe(0);
});

test('an archiver alone that does not reach ClickHouse is not ready and raises EngineAway, until it does', async () => {
  const [db, archive, metrics] = await Promise.all([createTestDatabase(), createTestClickhouse(), freePort()]);
  const proxy = await TcpProxy.start(archive.url);
  proxy.goAway();
  waiting = new ServiceProcess('archiver', {
    PATH: process.env.PATH,
    KAFKA_BROKERS: inject('kafkaBrokers'),
    KAFKA_TOPIC_PREFIX: uniquePrefix(),
    DATABASE_URL: db.url,
    CLICKHOUSE_URL: proxy.url,
    METRICS_PORT: String(metrics),
  });
  waiting.start();
  const ask = (path: string) => fetch(`http://127.0.0.1:${metrics}${path}`);
  const away = async () => {
    const shown = await (await ask('/metrics')).text();
    return /^engine_away\{engine="clickhouse",work="start"\} (\d)$/m.exec(shown)?.[1];
  };
  await eventually('its metrics name ClickHouse', async () => (await away()) === '1');
  // A check of an engine that works may take too long on a busy machine.
  const parts = { postgres: true, clickhouse: false, kafka: true, archiver: false };
  await eventually('only ClickHouse and the archiver are missing', async () => {
    const ready = await ask('/readyz');
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, parts }]);
    return true;
  });
  expect((await ask('/healthz')).status).toBe(200);
  proxy.comeBack();
  await eventually('it is ready', async () => (await ask('/readyz')).status === 200);
  expect(await away()).toBe('0');
  await waiting.stop();
  expect(waiting.ownEnds).toBe(0);
  await proxy.stop();
  await Promise.all([db.drop(), archive.drop()]);
});
