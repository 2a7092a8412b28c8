import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { Installation } from '../../support/children/installation.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { baseName, namedMetrics } from '../../support/oracles/observed-metrics.ts';

/** Metrics that a young installation that is well does not feed; credits are counted a minute after the charge. */
const FED_ELSEWHERE: ReadonlySet<string> = new Set([
  'backfills_ended_total',
  'credits_charged_total',
  'credits_granted_total',
  'crawler_completeness',
  'crawler_gaps_open',
  'crawler_gaps_total',
  'crawler_missed_items',
  'crawler_overflows_total',
  'crawler_rechecked_total',
  'crawler_tombstones_total',
  'crawler_unreadable_things_total',
  'delivery_local_faults_total',
  'digests_made_total',
  'kafka_dead_letters_total',
  'kafka_offset_resets_total',
  'live_tail_events_total',
  'monitor_events_total',
  'notices_total',
  'payment_events_total',
  'payments_healed_total',
  'payments_voided_total',
  'renewals_total',
  'retention_deleted_rows_total',
]);

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
  const expected = [...namedMetrics(declared)].filter((name) => declared.has(name) && !FED_ELSEWHERE.has(name));
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
