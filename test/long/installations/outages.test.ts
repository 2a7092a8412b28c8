import { afterAll, beforeAll, expect, test } from 'vitest';
import { OutageTrial } from '../../support/outages/outage-trial.ts';
import type { OutageReport } from '../../support/outages/outage-trial.ts';

/** Counted after the five seconds in which what was under way may end. */
const SECONDS = 15;
/** An engine that has been started again needs about half a minute until all consumers are back. */
const PATIENCE_MS = 150_000;
/** What readers are answered while an engine that they need is away. */
const NEEDS_CLICKHOUSE = ['search/comments', 'timeseries'];
const ALL_ROUTES = ['account', 'matches', 'subreddits', ...NEEDS_CLICKHOUSE];

let trial: OutageTrial;

beforeAll(async () => {
  trial = await OutageTrial.start({ rate: 40, keywords: ['rust', 'coffee', 'python'], disks: ['kafka'] });
});

afterAll(() => trial.stop());

/** The statuses that a route was answered with more than once: a stall of the machine may make one answer a 503. */
function statuses({ answers }: OutageReport, route: string): string[] {
  const counts = new Map<string, number>();
  for (const [answer, count] of Object.entries(answers[route] ?? {})) {
    const status = answer.slice(0, 3);
    counts.set(status, (counts.get(status) ?? 0) + count);
  }
  return [...counts].filter(([, count]) => count > 1).map(([status]) => status);
}

function expectNothingWrong(report: OutageReport): void {
  expect(report).toMatchObject({
    ...{ lost: 0, twice: 0, holes: 0, webhooks_missing: 0, not_archived: 0 },
    ...{ charged_without_answer: 0, wrong_answers: [], ends: [], caught_up_ms: expect.any(Number) as number },
  });
  expect(report.expected).toBeGreaterThan(0);
}

test('while ClickHouse is away only reads that need it are refused, and matches are delivered', async () => {
  const report = await trial.run({ engine: 'clickhouse', kind: 'away', seconds: SECONDS, patienceMs: PATIENCE_MS });
  expectNothingWrong(report);
  expect(report.readyz).toBe(200);
  for (const route of ALL_ROUTES) {
    expect([route, statuses(report, route)]).toEqual([route, [NEEDS_CLICKHOUSE.includes(route) ? '503' : '200']]);
  }
  expect(report.during.archived).toBe(0);
  for (const stage of ['appended', 'recorded', 'webhooks'] as const) expect(report.during[stage]).toBeGreaterThan(0);
});

test('while ClickHouse answers 2 s late, everything goes on', async () => {
  const report = await trial.run({ engine: 'clickhouse', kind: 'slow', seconds: SECONDS, patienceMs: PATIENCE_MS });
  expectNothingWrong(report);
  for (const stage of ['appended', 'recorded', 'webhooks', 'archived'] as const) {
    expect(report.during[stage]).toBeGreaterThan(0);
  }
});

test('while Kafka is away all reads are answered', async () => {
  const report = await trial.run({ engine: 'kafka', kind: 'away', seconds: SECONDS, patienceMs: PATIENCE_MS });
  expectNothingWrong(report);
  expect(ALL_ROUTES.flatMap((route) => statuses(report, route))).toEqual(ALL_ROUTES.map(() => '200'));
  expect(report.during.appended).toBe(0);
});

test('while Kafka answers 2 s late, items are still published', async () => {
  const report = await trial.run({ engine: 'kafka', kind: 'slow', seconds: SECONDS, patienceMs: PATIENCE_MS });
  expectNothingWrong(report);
  expect(ALL_ROUTES.flatMap((route) => statuses(report, route))).toEqual(ALL_ROUTES.map(() => '200'));
  expect(report.during.appended).toBeGreaterThan(0);
});

test("while Kafka's disk is full all reads are answered", async (context) => {
  if (!trial.canFill('kafka')) context.skip('mounting a tmpfs is not permitted here');
  const report = await trial.run({ engine: 'kafka', kind: 'full', seconds: SECONDS, patienceMs: PATIENCE_MS });
  expectNothingWrong(report);
  expect(ALL_ROUTES.flatMap((route) => statuses(report, route))).toEqual(ALL_ROUTES.map(() => '200'));
});

test('while Postgres is away all requests are refused with 503, and the crawler fills Kafka', async () => {
  const report = await trial.run({ engine: 'postgres', kind: 'away', seconds: SECONDS, patienceMs: PATIENCE_MS });
  expectNothingWrong(report);
  expect(report.readyz).toBe(503);
  expect(ALL_ROUTES.flatMap((route) => statuses(report, route))).toEqual(ALL_ROUTES.map(() => '503'));
  expect(report.during.appended).toBeGreaterThan(0);
});

test('while Postgres answers 2 s late, requests get an answer or 503, and the crawler fills Kafka', async () => {
  const report = await trial.run({ engine: 'postgres', kind: 'slow', seconds: SECONDS, patienceMs: PATIENCE_MS });
  expectNothingWrong(report);
  for (const route of ALL_ROUTES)
    for (const status of statuses(report, route)) expect(['200', '503']).toContain(status);
  expect(report.during.appended).toBeGreaterThan(0);
});
