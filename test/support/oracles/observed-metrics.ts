import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const DEPLOY = join(import.meta.dirname, '../../../deploy');
const DASHBOARDS = join(DEPLOY, 'grafana/dashboards');

export interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface Dashboard {
  uid: string;
  title: string;
  panels: {
    id: number;
    title: string;
    description: string;
    gridPos: { x: number; y: number; w: number; h: number };
    targets: { refId: string; expr: string; legendFormat: string }[];
  }[];
}

export function readAlerts(): Alert[] {
  const { groups } = parse(read('prometheus/alerts.yaml')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The names of the alerts that Prometheus' own tests let fire. */
export function readTestedAlerts(): string[] {
  const { tests } = parse(read('prometheus/alerts.test.yaml')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  return tests.flatMap((one) =>
    one.alert_rule_test.filter(({ exp_alerts: expected }) => expected.length > 0).map(({ alertname }) => alertname),
  );
}

export function readDashboards(): Dashboard[] {
  return readdirSync(DASHBOARDS).map((file) => JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8')) as Dashboard);
}

/** The sections of the runbook, each by its title. */
export function readRunbook(): Map<string, string> {
  const sections = read('../docs/operate/runbook.md').split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n');
      return [section.slice(0, end), section.slice(end)] as const;
    }),
  );
}

/**
 * The metrics that a PromQL expression reads. It knows as much of the language as the files of deploy/ use: a name is
 * whatever is not a function, a keyword, a label or a number.
 */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/"(?:[^"\\]|\\.)*"/g, ' ')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ');
  const words = [...bare.matchAll(/\b[a-z_]\w*\b(?!\s*\()/gi)].map(([word]) => word);
  return [...new Set(words.filter((word) => !/^(?:and|or|unless|offset|bool|by|without)$/.test(word)))];
}

/** The names without the suffixes of a histogram's series. */
function baseName(series: string): string {
  return series.replace(/_(?:bucket|sum|count)$/, '');
}

/** Every metric that a dashboard, an alert or a backticked name of the runbook reads, by its base name. */
export function namedMetrics(declared: ReadonlySet<string>): Set<string> {
  const expressions = [
    ...readAlerts().map(({ expr }) => expr),
    ...readDashboards().flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))),
  ];
  const inRunbook = [...[...readRunbook().values()].join('\n').matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(
    ([, name]) => name!,
  );
  return new Set([
    ...expressions.flatMap(metricsIn).map((name) => (declared.has(name) ? name : baseName(name))),
    ...inRunbook.filter((name) => !FOREIGN.has(name)),
  ]);
}

/** Backticked names in the runbook that are not metrics: PostgreSQL's own, error codes of the API. */
const FOREIGN = new Set(['pg_stat_activity', 'pg_cancel_backend', 'upstream_unavailable']);

function read(path: string): string {
  return readFileSync(join(DEPLOY, path), 'utf8');
}
