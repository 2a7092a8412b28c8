import { afterAll, beforeAll, expect, test } from 'vitest';
import { startClockComparison } from '../../../services/crawler/clock-comparison.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { readClockSkew } from '../../../shared/maintenance/settings.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let kafka: KafkaFixture;
beforeAll(async () => {
  [db, kafka] = await Promise.all([createTestDatabase(), createKafkaFixture()]);
});
afterAll(async () => {
  await Promise.all([db.drop(), kafka.drop()]);
});

/** What is stored and exported after one record of a broker whose clock is off by `error` ms. */
async function skewAfter(error: number): Promise<{ stored: number; exported: number }> {
  await db.pool.query('DELETE FROM settings');
  const metrics = createMetrics();
  const clocks = startClockComparison({ pool: db.pool, metrics, logger: silentLogger() });
  const publisher = await createPublisher({
    ...kafka,
    logger: silentLogger(),
    onAppended: (appended) => {
      clocks.appended({ ...appended, appendedAt: appended.appendedAt + error });
    },
  });
  await publisher.publish(await kafka.topic('clocks'), [{ key: 'a', value: 'b' }]);
  await eventually('a comparison', async () => (await readClockSkew(db.pool)) !== undefined);
  await Promise.all([publisher.stop(), clocks.stop()]);
  const { values } = await metrics.clockSkew.get();
  return { stored: (await readClockSkew(db.pool))!, exported: values[0]!.value };
}

test('records that are published anyway tell whether the clocks of the broker and Postgres agree', async () => {
  expect(await skewAfter(0)).toEqual({ stored: 0, exported: 0 });
  const { stored, exported } = await skewAfter(-60_000);
  expect(exported).toBe(stored / 1_000);
  expect(exported).toBeLessThan(-0.5);
  expect(exported).toBeGreaterThanOrEqual(-60);
});
