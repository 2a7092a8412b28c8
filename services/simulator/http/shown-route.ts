import type { Answer } from './answer.ts';
import { ok } from './answer.ts';
import { emissionTime } from '../timeline/timeline.ts';
import type { Shown } from '../timeline/timeline.ts';
import type { World } from '../world.ts';

const SPANS = { minute: 60_000, hour: 3_600_000 } as const;

type Counts = Record<'posts' | 'comments', Record<Shown | 'late', number>>;

function noCounts(): Counts {
  const none = { all: 0, community: 0, thread: 0, nowhere: 0, late: 0 };
  return { posts: { ...none }, comments: { ...none } };
}

/**
 * The truth for tests of completeness: how many items were created in each minute (or hour) of [from, to), by where
 * they can be seen. `late` are those that are not visible yet; they are in no other count. Times are in milliseconds.
 */
export function shownRoute(world: World, query: URLSearchParams): Answer {
  const { timeline, catalog } = world;
  const now = world.now();
  const from = Number(query.get('from') ?? timeline.runs[0]!.at);
  const to = Number(query.get('to') ?? now);
  const by = query.get('by') ?? 'minute';
  const isKnown = by === 'minute' || by === 'hour';
  if (!isKnown || !Number.isFinite(from) || !Number.isFinite(to)) {
    return { status: 400, body: { error: 'from and to are milliseconds since 1970; by is minute or hour' } };
  }
  const total = noCounts();
  const spans = new Map<number, Counts>();
  for (const k of slotsWithin(world, from, to)) {
    const at = timeline.emittedAt(k)!;
    const start = Math.floor(at / SPANS[by]) * SPANS[by];
    let counts = spans.get(start);
    if (!counts) spans.set(start, (counts = noCounts()));
    const kind = timeline.item(k).kind === 'post' ? 'posts' : 'comments';
    const shown = timeline.visibleAt(k) <= now ? catalog.shownOf(k) : 'late';
    counts[kind][shown]++;
    total[kind][shown]++;
  }
  return ok({
    from,
    to,
    by,
    total,
    spans: [...spans].sort((a, b) => a[0] - b[0]).map(([start, counts]) => ({ start, ...counts })),
  });
}

function* slotsWithin({ timeline }: World, from: number, to: number): Iterable<number> {
  for (const [k, { at }] of timeline.injected) if (at >= from && at < to) yield k;
  for (const run of timeline.runs) {
    if (run.rate === 0) continue;
    const end = run.end ?? timeline.frontier;
    const start = run.first + Math.max(0, Math.floor(((from - run.at) * run.rate) / 1000) - 1);
    for (let k = start; k < end && emissionTime(run, k) < to; k++) {
      const at = timeline.injected.has(k) ? undefined : timeline.emittedAt(k);
      if (at !== undefined && at >= from) yield k;
    }
  }
}
