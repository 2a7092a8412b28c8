import { expect } from 'vitest';
import type { OutageReport } from './outage-trial.ts';

/** What readers are answered with 503 while ClickHouse is away; all others need only Postgres. */
export const NEEDS_CLICKHOUSE = ['search/comments', 'timeseries'];
export const ALL_ROUTES = ['account', 'matches', 'subreddits', ...NEEDS_CLICKHOUSE];

/** The statuses that a route was answered with more than once: a stall of the machine may make one answer a 503. */
export function statuses({ answers }: OutageReport, route: string): string[] {
  const counts = new Map<string, number>();
  for (const [answer, count] of Object.entries(answers[route] ?? {})) {
    const status = answer.slice(0, 3);
    counts.set(status, (counts.get(status) ?? 0) + count);
  }
  return [...counts].filter(([, count]) => count > 1).map(([status]) => status);
}

export function expectNothingWrong(report: OutageReport): void {
  expect(report).toMatchObject({
    ...{ lost: 0, twice: 0, holes: 0, webhooks_missing: 0, not_archived: 0 },
    ...{ charged_without_answer: 0, wrong_answers: [], ends: [], caught_up_ms: expect.any(Number) as number },
  });
  expect(report.expected).toBeGreaterThan(0);
}
