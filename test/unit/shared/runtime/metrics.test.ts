import { expect, test } from 'vitest';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';

const metrics = await createMetrics().registry.getMetricsAsJSON();

test('each metric name is used once', () => {
  const names = metrics.map(({ name }) => name);
  expect(names.length).toBe(Object.keys(createMetrics()).length - 1);
  expect(new Set(names).size).toBe(names.length);
});

test.each(metrics.map(({ name, help, type }) => ({ name, help, type: String(type) })))(
  '$name has a help text and a name by the Prometheus conventions',
  ({ name, help, type }) => {
    expect(help).toMatch(/^\S.{10,}\.$/);
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
  },
);

test('a process that does not report on the installation exports no zero for it', async () => {
  const fresh = createMetrics();
  expect(await fresh.registry.metrics()).not.toMatch(/^deliveries_pending /m);
  fresh.deliveriesPending.set(0);
  expect(await fresh.registry.metrics()).toMatch(/^deliveries_pending 0$/m);
});

test('two sets of metrics count separately', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.matcherCandidates.inc(3);
  expect((await one.matcherCandidates.get()).values[0]?.value).toBe(3);
  expect((await other.matcherCandidates.get()).values[0]?.value).toBe(0);
});

test("Node's own metrics are included only for the process", async () => {
  expect(await createMetrics(true).registry.metrics()).toContain('process_cpu_seconds_total');
  expect(await createMetrics().registry.metrics()).not.toContain('process_cpu');
});
