import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

const MONITORS = 3;
const MATCHES_EACH = 8;
/** Four at a time to each URL. */
const IN_FLIGHT = MONITORS * 4;
/** Of each outcome: once about 14 s had passed, it was given up and its match sent again. */
const FAILURES = 20;

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(() => bench.reset());
afterAll(() => bench.db.drop());

test('while the disk takes claims but no outcomes nothing is sent again, and all is delivered when it has room', async () => {
  const { pool } = bench.db;
  await pool.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
  );
  await pool.query(
    'CREATE TRIGGER full_disk BEFORE INSERT ON delivery_attempts FOR EACH ROW EXECUTE FUNCTION refuse()',
  );
  const receiver = await bench.startReceiver((_, response) => response.writeHead(204).end());
  await bench.db.freeze();
  const ids: string[] = [];
  for (let at = 0; at < MONITORS; at++) {
    const { id } = await bench.addMonitor(`${receiver.url}/${at}`);
    await bench.addMatches(id, MATCHES_EACH);
    ids.push(id);
  }
  await bench.startDeliverer();
  const failures = async () => {
    const { values } = await bench.metrics.engineRetries.get();
    return values.reduce((sum, { labels, value }) => sum + (labels.work === 'delivering' ? value : 0), 0);
  };
  await eventually('outcomes cannot be stored', async () => (await failures()) >= 3 * IN_FLIGHT);
  // All leases end, and the poller finds the matches due.
  await bench.db.freeze('21 seconds');
  await eventually('they were tried often', async () => (await failures()) >= FAILURES * IN_FLIGHT, 60_000);
  expect(receiver.received).toHaveLength(IN_FLIGHT);
  await pool.query('DROP TRIGGER full_disk ON delivery_attempts');
  for (const id of ids) expect(new Set(await bench.settled(id))).toEqual(new Set(['delivered']));
  expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(
    MONITORS * MATCHES_EACH,
  );
  expect(receiver.received).toHaveLength(MONITORS * MATCHES_EACH);
}, 120_000);
