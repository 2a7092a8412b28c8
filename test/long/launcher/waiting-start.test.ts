import { afterEach, expect, test } from 'vitest';
import { ServiceProcess } from '../../support/children/service-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';

let waiting: ServiceProcess | undefined;
afterEach(() => waiting?.stop());

test('a process whose engines are unavailable is alive, says what it waits for, and stops in order when its terminal is closed', async () => {
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
  expect(await waiting.hangUp()).toBe(0);
  expect(waiting.ownEnds).toBe(0);
});
