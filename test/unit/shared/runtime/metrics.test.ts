import { expect, test } from 'vitest';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';

const metrics = await createMetrics().registry.getMetricsAsJSON();

test('each metric has a name of its own by the conventions of Prometheus, and a help text', () => {
  expect(new Set(metrics.map(({ name }) => name)).size).toBe(Object.keys(createMetrics()).length - 1);
  for (const { name, help, type } of metrics) {
    expect(help, name).toMatch(/^\S.{10,}\.$/);
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(name.endsWith('_total'), name).toBe(String(type) === 'counter');
    if (String(type) === 'histogram') expect(name).toMatch(/_seconds$/);
  }
});

test('a process that does not report on the installation exports no zero for it', async () => {
  const fresh = createMetrics();
  expect(await fresh.registry.metrics()).not.toMatch(/^deliveries_pending /m);
  fresh.deliveriesPending.set(0);
  expect(await fresh.registry.metrics()).toMatch(/^deliveries_pending 0$/m);
});
