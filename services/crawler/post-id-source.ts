import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Upstream } from '../../shared/upstream/upstream-client.ts';
import type { CrawlSource, Round } from './crawl-source.ts';
import type { Pace } from './pace.ts';
import { PostIdWalk } from './post-id-walk.ts';
import { readThings } from './read-things.ts';

const INTERVAL_MS = 1_000;
/** Between two calls while there is more to fetch at once. */
const BUSY_INTERVAL_MS = 100;
/** While stretches are left behind: bounds catching up to about two calls a second. */
const CATCH_UP_INTERVAL_MS = 250;
/** So long without a new post, the listing is asked where the head is: a hole may be wider than one call. */
const HEAD_CHECK_MS = 5_000;
/** A first walk begins so many ids before the newest. */
const FIRST_MARGIN = 100;

const savedPosition = z.object({
  next: z.string(),
  stretches: z.array(z.tuple([z.string(), z.string()])),
  missing: z.array(z.tuple([z.string(), z.number(), z.number()])),
});

export interface PostIdSourceDeps {
  upstream: Upstream;
  pace: Pace;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
}

/** Walks the sequential post ids with /api/info, a hundred a call, just past the newest one. */
export class PostIdSource implements CrawlSource {
  readonly name = 'post-ids';
  readonly label = 'post-ids';
  readonly replay = false;
  private readonly deps: PostIdSourceDeps;
  private walk: PostIdWalk | undefined;
  private headKnownAt = Number.NEGATIVE_INFINITY;

  constructor(deps: PostIdSourceDeps) {
    this.deps = deps;
  }

  async begin(position: unknown): Promise<void> {
    this.walk = position === undefined ? undefined : new PostIdWalk(savedPosition.parse(position));
    this.headKnownAt = Number.NEGATIVE_INFINITY;
  }

  async round(signal: AbortSignal): Promise<Round> {
    const { upstream, clock } = this.deps;
    const startedAt = clock();
    const walk = await this.walkFromHead(signal);
    if (!walk)
      return { things: [], seenAt: startedAt, acknowledged: () => undefined, pauseMs: INTERVAL_MS, done: false };
    const step = walk.step(startedAt, upstream.perSecond('catch-up') > 0);
    const id = step.ids.map((bare) => `t3_${bare}`).join(',');
    const lane = step.purpose === 'head' ? 'live' : 'catch-up';
    const body = await upstream.get('/api/info', { id }, { endpoint: 'info', lane, signal });
    const seenAt = clock();
    const { things } = readThings(body, { ...this.deps, label: this.label, endpoint: 'info' });
    const found = new Set(things.filter((thing) => thing.kind === 't3').map((thing) => thing.data.id));
    return {
      things,
      seenAt,
      acknowledged: () => {
        this.settle(walk, step, found, seenAt);
      },
      pauseMs: Math.max(0, this.intervalMs(walk, found.size) - (seenAt - startedAt)),
      done: false,
    };
  }

  position(): unknown {
    return this.walk?.position();
  }

  async end(): Promise<void> {
    this.deps.pace.forget(this.name);
  }

  private settle(
    walk: PostIdWalk,
    step: ReturnType<PostIdWalk['step']>,
    found: ReadonlySet<string>,
    now: number,
  ): void {
    const before = walk.nextId;
    walk.learn(step, found, now);
    if (walk.nextId !== before) this.headKnownAt = now;
    const absent = walk.takeAbsent();
    if (absent > 0) this.deps.metrics.crawlerAbsent.inc({ source: this.label }, absent);
  }

  /** The walk, told where the head is when that is not clear; undefined while the forum has no post at all. */
  private async walkFromHead(signal: AbortSignal): Promise<PostIdWalk | undefined> {
    const { upstream, clock } = this.deps;
    if (this.walk && clock() - this.headKnownAt < HEAD_CHECK_MS) return this.walk;
    const call = { endpoint: 'listing-new', lane: 'live', signal } as const;
    const body = await upstream.get('/r/all/new', { limit: '100' }, call);
    const { things } = readThings(body, { ...this.deps, label: this.label, endpoint: call.endpoint });
    const ids = things.filter((thing) => thing.kind === 't3').map((thing) => thing.data.id);
    const head = ids.reduce<string | undefined>((newest, id) => (isNewer(id, newest) ? id : newest), undefined);
    if (head === undefined) return this.walk;
    this.headKnownAt = clock();
    if (this.walk) this.walk.learnHead(head);
    else this.walk = new PostIdWalk({ head, margin: FIRST_MARGIN });
    return this.walk;
  }

  private intervalMs(walk: PostIdWalk, found: number): number {
    const wanted =
      walk.isBehind || found > 80 ? BUSY_INTERVAL_MS : walk.hasStretches ? CATCH_UP_INTERVAL_MS : INTERVAL_MS;
    return this.deps.pace.intervalMs(this.name, wanted);
  }
}

/** Sequential ids without leading zeros: the longer one is newer, and equally long ones compare as text. */
function isNewer(id: string, than: string | undefined): boolean {
  if (than === undefined) return true;
  return id.length === than.length ? id > than : id.length > than.length;
}
