import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import {
  metricsIn,
  namedMetrics,
  readAlerts,
  readDashboards,
  readRunbook,
  readTestedAlerts,
} from '../support/oracles/observed-metrics.ts';

const ROOT = join(import.meta.dirname, '../..');
const { registry, ...metrics } = createMetrics(true);
const declared = new Map((await registry.getMetricsAsJSON()).map((metric) => [metric.name, metric]));
/** Series that Prometheus itself, node_exporter and the kubelets make, with the labels that rules use. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  up: [],
  ALERTS: ['alertname'],
  node_filesystem_avail_bytes: ['mountpoint', 'fstype'],
  node_filesystem_size_bytes: ['mountpoint', 'fstype'],
  kubelet_volume_stats_available_bytes: ['namespace', 'persistentvolumeclaim'],
  kubelet_volume_stats_capacity_bytes: ['namespace', 'persistentvolumeclaim'],
};
const alerts = readAlerts();
const dashboards = readDashboards();

describe('alerts', () => {
  test('each has a section of the runbook, and each section an alert', () => {
    expect([...readRunbook().keys()].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
    for (const { alert, annotations } of alerts)
      expect(annotations.runbook_url).toBe(`docs/operate/runbook.md#${alert.toLowerCase()}`);
  });

  test('each fires in a test of Prometheus', () => {
    expect([...new Set(readTestedAlerts())].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  });
});

describe('metrics', () => {
  const named = namedMetrics(new Set(declared.keys()));

  test('each that an alert, a dashboard or the runbook names is declared', () => {
    expect(named.size).toBeGreaterThan(70);
    expect([...named].filter((name) => !declared.has(name) && !(name in FOREIGN))).toEqual([]);
  });

  test('each that is declared is fed somewhere', () => {
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'services/*.ts', 'shared/*.ts'], {
      cwd: ROOT,
    });
    const sources = files
      .toString()
      .split('\n')
      .filter((file) => file !== '' && file !== 'shared/runtime/metrics.ts' && existsSync(join(ROOT, file)))
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('\n');
    const unfed = Object.keys(metrics).filter((name) => !new RegExp(`\\b${name}\\b`).test(sources));
    expect(unfed).toEqual([]);
  });

  test('expressions group and filter by labels that the metric has', () => {
    const added = ['instance', 'job', 'le', 'alertstate'];
    const wrong: string[] = [];
    const expressions = [
      ...alerts.map(({ expr }) => expr),
      ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))),
    ];
    for (const expr of expressions) {
      for (const [, series, matchers] of expr.matchAll(/\b([a-z]+(?:_[a-z]+)+)\{([^}]*)\}/g)) {
        const name = declared.has(series!) ? series! : series!.replace(/_(bucket|sum|count)$/, '');
        const known = [...labelsOf(name), ...added];
        for (const [, label] of matchers!.matchAll(/(\w+)\s*[=!]~?"/g))
          if (!known.includes(label!)) wrong.push(`${series!}: ${label!}`);
      }
      for (const [, labels] of expr.matchAll(/by \(([^)]*)\)/g)) {
        const known = [...metricsIn(expr).flatMap((series) => labelsOf(series)), ...added];
        for (const label of labels!.split(/,\s*/)) if (!known.includes(label)) wrong.push(`${expr}: ${label}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

/** The names of a metric's labels, of a histogram's series too. */
function labelsOf(series: string): readonly string[] {
  if (series in FOREIGN) return FOREIGN[series]!;
  const name = declared.has(series) ? series : series.replace(/_(bucket|sum|count)$/, '');
  const metric = Object.values(metrics).find((one) => (one as unknown as { name: string }).name === name);
  return (metric as unknown as { labelNames?: string[] } | undefined)?.labelNames ?? [];
}
