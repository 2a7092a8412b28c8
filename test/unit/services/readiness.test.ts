import { expect, test } from 'vitest';
import { Readiness } from '../../../services/readiness.ts';
import type { ReadinessDeps } from '../../../services/readiness.ts';

type Service = 'api' | 'matcher' | 'archiver';

/** A process whose parts the test switches. */
function stage(services: Service[] = ['api', 'matcher']) {
  const up = { postgres: true, clickhouse: true, kafka: true, api: true, matcher: true, archiver: true };
  const time = { now: 0 };
  const engines = {
    pool: { query: () => Promise.resolve({ rowCount: up.postgres ? 1 : 0 }) },
    clickhouse: { ping: () => Promise.resolve({ success: up.clickhouse }) },
    kafka: { withAdmin: () => Promise.resolve(up.kafka) },
  } as unknown as Pick<ReadinessDeps, 'pool' | 'clickhouse' | 'kafka'>;
  const readiness = new Readiness({ ...engines, services, monotonic: () => time.now });
  const add = (service: Service) => readiness.add(service, () => up[service]);
  return { up, time, readiness, add };
}

test('it says no, and names every service, until all have started and the addresses are published', async () => {
  const { readiness, add } = stage();
  const parts = { postgres: true, clickhouse: true, kafka: true, api: false, matcher: false };
  expect(await readiness.answer()).toEqual({ ready: false, parts });
  add('api');
  expect(await readiness.answer()).toEqual({ ready: false, parts: { ...parts, api: true } });
  add('matcher');
  expect((await readiness.answer()).ready).toBe(false);
  readiness.markAnnounced();
  expect(await readiness.answer()).toEqual({ ready: true, parts: { ...parts, api: true, matcher: true } });
});

test('the start is not over while a part comes and goes', async () => {
  const { time, readiness, add } = stage();
  add('api');
  let checks = 0;
  readiness.add('matcher', () => {
    time.now += 100;
    checks++;
    // The third check finds it without partitions.
    return checks !== 3;
  });
  await readiness.untilReady(AbortSignal.timeout(10_000));
  expect(checks).toBeGreaterThanOrEqual(3 + 3);
});

test('the start does not wait for ever for an archiver whose tables ClickHouse refuses', async () => {
  const { up, time, readiness, add } = stage(['api', 'archiver']);
  add('api');
  up.archiver = false;
  readiness.add('archiver', () => {
    time.now += 1_000;
    return up.archiver;
  });
  await readiness.untilReady(AbortSignal.timeout(10_000));
  expect(time.now).toBeGreaterThanOrEqual(10_000);
  expect(time.now).toBeLessThan(15_000);
});

test('the start does not wait for a service that halted, which is named', async () => {
  const { time, readiness } = stage();
  const signal = AbortSignal.timeout(10_000);
  readiness.add('api', () => (time.now += 100) > 0);
  readiness.add(
    'matcher',
    () => false,
    () => true,
  );
  await readiness.untilReady(signal);
  expect(signal.aborted).toBe(false);
  readiness.markAnnounced();
  expect(await readiness.answer()).toMatchObject({ ready: false, parts: { api: true, matcher: false } });
});

test('excluded parts are named and do not count', async () => {
  const { up, readiness, add } = stage(['api']);
  add('api');
  const excluded = new Set(['postgres', 'kafka']);
  up.postgres = up.kafka = false;
  // A process that starts is not ready, whatever is excluded.
  expect((await readiness.answer(excluded)).ready).toBe(false);
  readiness.markAnnounced();
  expect(await readiness.answer(excluded)).toMatchObject({ ready: true, parts: { postgres: false, kafka: false } });
  expect((await readiness.answer(new Set(['kafka']))).ready).toBe(false);
  up.api = false;
  expect((await readiness.answer()).ready).toBe(false);
  readiness.markStopping();
  expect((await readiness.answer(excluded)).ready).toBe(false);
});

test('a short lapse of a service is not shown, a long one and that of an engine are', async () => {
  const { up, time, readiness, add } = stage();
  add('api');
  add('matcher');
  readiness.markAnnounced();
  const isReady = async () => (await readiness.answer()).ready;
  expect(await isReady()).toBe(true);
  // However long ago anybody asked.
  time.now += 3_600_000;
  up.matcher = false;
  expect(await isReady()).toBe(true);
  time.now += 4_900;
  expect(await isReady()).toBe(true);
  time.now += 200;
  expect(await readiness.answer()).toMatchObject({ ready: false, parts: { matcher: false, api: true } });
  up.matcher = true;
  expect(await isReady()).toBe(true);
  up.kafka = false;
  expect(await isReady()).toBe(false);
  up.kafka = true;
  up.clickhouse = false;
  expect(await readiness.answer()).toMatchObject({ ready: true, parts: { clickhouse: false } });
});

test('the API alone stays in rotation without Kafka', async () => {
  const { up, readiness, add } = stage(['api']);
  add('api');
  readiness.markAnnounced();
  up.kafka = false;
  expect(await readiness.answer()).toMatchObject({ ready: true, parts: { kafka: false } });
  up.postgres = false;
  expect((await readiness.answer()).ready).toBe(false);
});

test.each<[services: Service[], ready: boolean]>([
  [['archiver'], false],
  [['archiver', 'matcher'], true],
  [['api', 'matcher', 'archiver'], true],
  [['api'], true],
  [['matcher'], true],
])('without ClickHouse a process with %j is ready: %s', async (services, ready) => {
  const { up, readiness, add } = stage(services);
  for (const service of services) add(service);
  readiness.markAnnounced();
  expect((await readiness.answer()).ready).toBe(true);
  up.clickhouse = false;
  up.archiver = false;
  expect(await readiness.answer()).toMatchObject({ parts: { clickhouse: false } });
  expect((await readiness.check()).ready).toBe(ready);
  up.clickhouse = true;
  expect((await readiness.check()).ready).toBe(ready);
});
