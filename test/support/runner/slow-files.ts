/**
 * Seconds that the slowest test files take on two cores, from the report of a whole run. They only decide the order in
 * which files start (order-files.ts): a wrong number costs time, not correctness. Files that are not listed take less
 * than ten seconds.
 */
export const SECONDS_OF_SLOW_FILES: Readonly<Record<string, number>> = {
  'test/end-to-end/coverage.test.ts': 160,
  'test/end-to-end/kill-and-recover.test.ts': 88,
  'test/end-to-end/engine-outages.test.ts': 67,
  'test/end-to-end/delivery-chaos.test.ts': 59,
  'test/end-to-end/readme-walk-through.test.ts': 30,
  'test/end-to-end/engine-crashes.test.ts': 23,
  'test/end-to-end/endpoints-before-ready.test.ts': 8,
  'test/integration/crawler/live.test.ts': 72,
  'test/integration/crawler/postgres-outage.test.ts': 49,
  'test/integration/matching/matcher.test.ts': 46,
  'test/integration/signup/model.test.ts': 38,
  'test/integration/deliveries/health.test.ts': 37,
  'test/integration/launcher/engines.test.ts': 34,
  'test/integration/recorder/killed-before-publishing.test.ts': 27,
  'test/integration/archiver/faults.test.ts': 26,
  'test/integration/signup/limits.test.ts': 24,
  'test/integration/reading/hostile.test.ts': 22,
  'test/integration/deliveries/bound.test.ts': 21,
  'test/integration/matching/listener.test.ts': 21,
  'test/integration/kafka/broker-restart.test.ts': 20,
  'test/integration/accounts/model.test.ts': 19,
  'test/integration/monitors/states.test.ts': 19,
  'test/integration/signup/races.test.ts': 18,
  'test/integration/archiver/archiver.test.ts': 18,
  'test/integration/kafka/batch-consumer.test.ts': 17,
  'test/integration/crawler/unreadable-things.test.ts': 16,
  'test/integration/deliveries/deliverer.test.ts': 16,
  'test/integration/deliveries/fairness.test.ts': 16,
  'test/integration/signup/links.test.ts': 15,
  'test/integration/admin/admin-cli.test.ts': 15,
  'test/integration/matching/changes-in-flight.test.ts': 14,
};
