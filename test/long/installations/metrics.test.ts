import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { Installation } from '../../support/children/installation.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { baseName, namedMetrics } from '../../support/oracles/observed-metrics.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Metrics that a young installation that is well does not feed, with the test that raises each. */
const FED_ELSEWHERE: Readonly<Record<string, string>> = {
  backfills_ended_total: 'test/integration/backfill/backfill.test.ts',
  // A minute after the charge.
  credits_charged_total: 'test/integration/billing/report.test.ts',
  credits_granted_total: 'test/integration/billing/report.test.ts',
  crawler_completeness: 'test/integration/coverage/start-coverage.test.ts',
  crawler_gaps_open: 'test/integration/coverage/start-coverage.test.ts',
  crawler_gaps_total: 'test/unit/services/crawler/listings/listing-source.test.ts',
  crawler_missed_items: 'test/integration/coverage/start-coverage.test.ts',
  crawler_overflows_total: 'test/unit/services/crawler/listings/listing-source.test.ts',
  crawler_rechecked_total: 'test/integration/crawler/rechecks.test.ts',
  crawler_tombstones_total: 'test/integration/crawler/rechecks.test.ts',
  crawler_unreadable_things_total: 'test/unit/services/crawler/unreadable-things.test.ts',
  delivery_local_faults_total: 'test/integration/deliveries/bound.test.ts',
  digests_made_total: 'test/integration/digests/mailed-digests.test.ts',
  kafka_dead_letters_total: 'test/integration/recorder/service.test.ts',
  kafka_offset_resets_total: 'test/integration/kafka/batch-consumer.test.ts',
  live_tail_events_total: 'test/integration/live-tail/limits.test.ts',
  monitor_events_total: 'test/integration/digests/events.test.ts',
  notices_total: 'test/integration/notices/mailed-notices.test.ts',
  payment_events_total: 'test/integration/payments/trial-checkout.test.ts',
  payments_healed_total: 'test/integration/payments/trial-checkout.test.ts',
  payments_voided_total: 'test/integration/payments/void-payments.test.ts',
  renewals_total: 'test/integration/billing/renewals.test.ts',
  retention_deleted_rows_total: 'test/integration/retention/sweep.test.ts',
};

/** The name of each metric in the code. */
const propertyOf = new Map(
  Object.entries(createMetrics()).map(([property, metric]) => [(metric as unknown as { name: string }).name, property]),
);

let installation: Installation;
let receiver: WebhookReceiver;
let key: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  installation = await Installation.prepare();
  await installation.start();
  key = String(installation.admin('account', 'create', '--email', 'metrics@example.com', '--pack', '9').api_key);
});
afterAll(async () => {
  await installation.remove();
  await receiver.stop();
});

/** The metrics that have been fed: gauges with a value, counters above zero, histograms that observed something. */
async function fedMetrics(): Promise<Set<string>> {
  const text = await (await fetch(`${installation.endpoints().metrics}/metrics`)).text();
  const fed = new Set<string>();
  for (const [, series, value] of text.matchAll(/^([a-z_\d]+)(?:\{[^}]*\})? (\S+)$/gm)) {
    const name = series!;
    if (!/_(?:total|count)$/.test(name) || Number(value) > 0) fed.add(name.endsWith('_count') ? baseName(name) : name);
  }
  return fed;
}

test('every metric that dashboards, alerts and the runbook name is fed', async () => {
  const body = { name: 'metrics', keywords: ['rust', 'coffee', 'python'], nsfw: true, webhook_url: receiver.url };
  expect((await installation.call(key, 'POST', '/v1/monitors', body)).status).toBe(201);
  await installation.call(key, 'POST', '/v1/monitors/preview', { settings: { keywords: ['rust'] } });
  expect((await fetch(`${installation.url}/stripe/webhook`, { method: 'POST', body: '{}' })).status).toBe(400);
  await eventually('a webhook arrives', () => receiver.received.length > 0);
  installation.killOne('/bin/postgres');

  const declared = new Set((await createMetrics(true).registry.getMetricsAsJSON()).map(({ name }) => name));
  const expected = [...namedMetrics(declared)].filter((name) => declared.has(name) && !(name in FED_ELSEWHERE));
  let missing: string[] = [];
  await eventually(
    'every metric is fed',
    async () => {
      const fed = await fedMetrics();
      missing = expected.filter((name) => !fed.has(name));
      return missing.length === 0;
    },
    90_000,
  ).catch((error: unknown) => {
    throw new Error(`not fed: ${missing.join(', ')}`, { cause: error });
  });
});

test.each(Object.entries(FED_ELSEWHERE))('%s is raised in %s', (name, file) => {
  expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(new RegExp(`${name}|\\b${propertyOf.get(name)!}\\b`));
});
