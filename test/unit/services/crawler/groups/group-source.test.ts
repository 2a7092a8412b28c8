import { expect, test } from 'vitest';
import type { Call } from '../../../../../services/crawler/crawl-source.ts';
import { CommunityCounts } from '../../../../../services/crawler/groups/community-counts.ts';
import { GroupBudget } from '../../../../../services/crawler/groups/group-budget.ts';
import { GroupSource } from '../../../../../services/crawler/groups/group-source.ts';
import type { Queryable } from '../../../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

const signal = new AbortController().signal;
const START = Date.UTC(2026, 0, 1);

/** A source on a database that has only cursors and the rates of some communities. */
function start(cursors: Map<string, unknown>, rates: object[], isAway: () => boolean = () => false) {
  const query = (text: string, values: unknown[] = []) => {
    if (isAway()) return Promise.reject(Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' }));
    if (text.includes('INSERT INTO crawl_cursors')) {
      cursors.set(String(values[0]), JSON.parse(String(values[1])));
      return Promise.resolve({ rowCount: 1, rows: [] });
    }
    if (text.includes('FROM crawl_cursors')) {
      const position = cursors.get(String(values[0]));
      return Promise.resolve({ rows: position === undefined ? [] : [{ position }] });
    }
    return Promise.resolve({ rows: rates, rowCount: 0 });
  };
  const upstream = {
    get: () => Promise.reject(new Error('the test makes no calls')),
    post: () => Promise.reject(new Error('the crawler never posts')),
    perSecond: () => 10,
    stop: () => Promise.resolve(),
  };
  return new GroupSource(0, {
    upstream,
    db: { query } as unknown as Queryable,
    holder: 'me',
    budget: new GroupBudget(() => 10),
    counts: new CommunityCounts(),
    seen: { has: () => false },
    metrics: createMetrics(),
    logger: silentLogger(),
    clock: () => START,
    recordGap: () => undefined,
  });
}

const rateOf = (subreddit: string, perDay: number) => {
  return { subreddit, comments: perDay, posts: 0, checked: 1000, missed: 1000, measured_seconds: 864_000, total: 1 };
};

async function make(source: GroupSource): Promise<void> {
  const step = source.next(START) as Call;
  const { acknowledged } = await step.fetch(signal);
  acknowledged();
}

test('saves which communities are in groups that are not slow, and takes them up again', async () => {
  const cursors = new Map<string, unknown>();
  const source = start(cursors, [rateOf('busy', 40_000), rateOf('quiet', 0)]);
  await source.begin(undefined);
  await make(source);
  expect([...cursors.keys()]).toEqual([]);
  await make(source);
  expect([...cursors]).toEqual([['listings:groups:0:prompt', ['busy']]]);
  const position = { groups: [], rest: START - 1_000, slow: START - 2_000_000 };
  const next = start(cursors, [rateOf('busy', 40_000), rateOf('quiet', 40_000)]);
  await next.begin(position);
  await make(next);
  const { groups, rest } = next.position() as { groups: { names: string[]; at: number }[]; rest: number };
  const times = new Map(groups.flatMap(({ names, at }) => names.map((name) => [name, at] as const)));
  expect(Math.min(...times.values(), rest)).toBe(START - 2_000_000);
});

test('continues without the names while Postgres is away', async () => {
  const cursors = new Map<string, unknown>();
  let isAway = false;
  const source = start(cursors, [rateOf('busy', 40_000)], () => isAway);
  await source.begin(undefined);
  await make(source);
  isAway = true;
  await make(source);
  expect([...cursors.keys()]).toEqual([]);
});
