import { createClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Coverage, CoverageGap } from '../../schemas/api/coverage.ts';
import type { ServiceStatus } from '../../schemas/api/status.ts';
import { Installation } from '../support/children/installation.ts';
import { eventually } from '../support/fixtures/eventually.ts';

const OUTAGE_SECONDS = 40;
const SECOND = 1_000;

let running: Installation;
let key: string;
let begun: number;

beforeAll(async () => {
  // During the outage the listing of comments turns over: 40 s make more than its thousand items.
  running = await Installation.prepare({ SIMULATOR_RATE: '40', CRAWL_SOURCES: 'post-ids,listings,threads' });
  await running.start();
  begun = Date.now();
  key = String(running.admin('account', 'create', '--email', 'coverage@example.com', '--pack', '79').api_key);
});
afterAll(() => running.remove());

async function coverage(): Promise<Coverage> {
  return (await running.call(key, 'GET', '/v1/coverage')).body as Coverage;
}

/** The posts that the simulator made within a time, by its own log. */
async function postsMade(from: number, to: number): Promise<number> {
  const response = await fetch(`${running.endpoints().simulator}/simulator/shown?from=${from}&to=${to}`);
  const { total } = (await response.json()) as { total: { posts: Record<string, number> } };
  return Object.values(total.posts).reduce((sum, posts) => sum + posts, 0);
}

async function postsArchived(from: number, to: number): Promise<number> {
  const clickhouse = createClient({ url: running.endpoints().clickhouse });
  const result = await clickhouse.query({
    query: `SELECT toUInt32(uniqExact(thing_id)) AS posts FROM items
             WHERE kind = 'post' AND created_utc >= fromUnixTimestamp64Milli({from: Int64})
               AND created_utc < fromUnixTimestamp64Milli({to: Int64})`,
    query_params: { from, to },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ posts: number }>();
  await clickhouse.close();
  return row!.posts;
}

test('an outage of the forum becomes a gap that is filled, and no post of it is missed', async () => {
  await eventually('items are counted', async () => {
    const { total } = await coverage();
    return total.seen.comments > 0 && total.completeness.posts !== null && total.budget.used > 0;
  });
  const outageAt = Date.now();
  await fetch(`${running.endpoints().simulator}/simulator/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'outage', seconds: OUTAGE_SECONDS }),
  });
  const isOfComments = ({ source }: CoverageGap): boolean => source === 'listings:comments';
  const opened = await eventually(
    'the gap is told',
    async () => (await coverage()).gaps.find(isOfComments),
    (OUTAGE_SECONDS + 60) * SECOND,
  );
  expect(Date.parse(opened.created_from!)).toBeGreaterThan(outageAt - 5 * SECOND);
  expect(Date.parse(opened.created_to!)).toBeLessThan(outageAt + (OUTAGE_SECONDS + 30) * SECOND);
  const closed = await eventually(
    'the gap is closed',
    async () => (await coverage()).gaps.find((gap) => gap.id === opened.id && gap.closed_at !== null),
    180 * SECOND,
  );
  expect(closed.outcome).toBe('filled');
  expect(closed.found).toBeGreaterThan(0);
  // Whole seconds, as the forum dates things.
  const [from, to] = [Math.ceil(begun / SECOND) * SECOND, Math.floor(Date.parse(closed.closed_at!) / SECOND) * SECOND];
  const made = await postsMade(from, to);
  expect(made).toBeGreaterThan(OUTAGE_SECONDS);
  await eventually('all posts are archived', async () => (await postsArchived(from, to)) === made);
  const { total } = await coverage();
  expect(total.gaps).toMatchObject({ opened: total.gaps.closed, open: 0 });
  expect(total.completeness.posts).toMatchObject({ share: 1, unread: 0 });
  expect(total.seen.by_source).toHaveProperty('threads');
  expect(total.budget.by_lane).toHaveProperty('threads');
  const status = (await (await fetch(`${running.url}/status`)).json()) as ServiceStatus;
  expect(status.parts.items).toMatchObject({ status: 'ok' });
}, 480_000);
