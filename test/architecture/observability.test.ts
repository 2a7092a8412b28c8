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
      expect(annotations.runbook_url).toBe(`deploy/runbook/README.md#${alert.toLowerCase()}`);
  });

  test.each([...readRunbook()])('the section %s says what it means, how to look and how to mend', (_name, text) => {
    for (const part of ['Users', 'Look', 'Mend']) expect(text).toMatch(new RegExp(`^\\*\\*${part}\\*\\*: \\S`, 'm'));
  });

  test('each fires in a test of Prometheus', () => {
    expect([...new Set(readTestedAlerts())].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  });

  test.each(alerts)('$alert has a severity and a summary', ({ labels, annotations }) => {
    expect(labels.severity).toMatch(/^(warning|critical)$/);
    expect(annotations.summary).toMatch(/^\S.{15,}[^.]$/);
  });

  test('names that the runbook mentions as alerts exist', () => {
    const known = new Set([...alerts.map(({ alert }) => alert), 'LISTEN']);
    const mentioned = [...readRunbook().values()].flatMap((text) => [...text.matchAll(/`([A-Z][a-z]+[A-Z]\w+)`/g)]);
    expect(mentioned.length).toBeGreaterThan(5);
    expect(mentioned.map(([, name]) => name!).filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('dashboards', () => {
  test('each has an identifier of its own and fits its file', () => {
    expect(dashboards.map(({ title }) => title).sort()).toEqual([
      'API',
      'Crawler and coverage',
      'Deliveries',
      'Money',
      'Pipeline',
    ]);
    expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
  });

  test.each(dashboards)('$title: panels have ids, titles, places and queries of their own', ({ panels }) => {
    for (const key of ['id', 'title'] as const) {
      expect(new Set(panels.map((panel) => panel[key])).size).toBe(panels.length);
    }
    const places = panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
    expect(new Set(places).size).toBe(panels.length);
    for (const { description, targets, gridPos } of panels) {
      expect(description).toMatch(/\.$/);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      expect(new Set(targets.map(({ legendFormat }) => legendFormat)).size).toBe(targets.length);
    }
  });

  test('legends name labels that the metric or the scrape has', () => {
    const wrong = dashboards.flatMap(({ panels }) =>
      panels.flatMap(({ targets }) =>
        targets.filter(({ expr, legendFormat }) =>
          [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].some(
            ([, label]) => label !== 'instance' && !new RegExp(`by \\([^)]*\\b${label!}\\b`).test(expr),
          ),
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe('metrics', () => {
  const named = namedMetrics(new Set(declared.keys()));

  test('each that an alert, a dashboard or the runbook names is declared', () => {
    expect(named.size).toBeGreaterThan(70);
    expect([...named].filter((name) => !declared.has(name) && !(name in FOREIGN))).toEqual([]);
  });

  test('each that is declared is on a dashboard or in an alert, or says here why not', () => {
    const elsewhere = [
      // Faults of single items, which the log explains better.
      'crawler_absent_ids_total',
      'crawler_head_alarms_total',
      'crawler_incomplete_comments_total',
      'crawler_undetected_languages_total',
      'crawler_unknown_kinds_total',
      'digests_due',
      'backfill_matches_total',
      'matcher_ring_bytes',
      // Memory that is bounded: they tell it from a leak.
      'cache_bytes',
      'crawler_followed_posts',
      'matcher_ring_cut_short_total',
    ];
    const own = Object.values(metrics).map((metric) => (metric as unknown as { name: string }).name);
    expect(own.filter((name) => !named.has(name)).sort()).toEqual(elsewhere.sort());
  });

  test('each that is declared is fed somewhere', () => {
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'services/*.ts', 'shared/*.ts'], {
      cwd: ROOT,
    });
    const sources = files
      .toString()
      .split('\n')
      .filter((file) => file !== '' && !file.startsWith('shared/runtime/') && existsSync(join(ROOT, file)))
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

test('the search for metrics in an expression knows functions, labels and durations', () => {
  expect(
    metricsIn(
      'histogram_quantile(0.9, sum by (le, kind) (rate(a_seconds_bucket{le="1"}[5m]))) > 2 or max(b_c) / on (x) d_e',
    ),
  ).toEqual(['a_seconds_bucket', 'b_c', 'd_e']);
});

/** The names of a metric's labels, of a histogram's series too. */
function labelsOf(series: string): readonly string[] {
  if (series in FOREIGN) return FOREIGN[series]!;
  const name = declared.has(series) ? series : series.replace(/_(bucket|sum|count)$/, '');
  const metric = Object.values(metrics).find((one) => (one as unknown as { name: string }).name === name);
  return (metric as unknown as { labelNames?: string[] } | undefined)?.labelNames ?? [];
}
