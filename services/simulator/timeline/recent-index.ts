import type { Threads } from '../content/threads.ts';
import type { Timeline } from './timeline.ts';

/** The upstream ends every listing at about a thousand items; authors' listings here reach back 200. */
const LISTING_DEPTH = 1000;
const AUTHOR_DEPTH = 200;

export interface Attributes {
  /** Lower case, as names are compared. */
  community: string;
  author: string;
}

/** The newest slots of one listing, oldest first in the order in which they became visible. */
class NewestFirst {
  private readonly slots: number[] = [];
  private readonly depth: number;

  constructor(depth: number) {
    this.depth = depth;
  }

  add(k: number): void {
    this.slots.push(k);
    if (this.slots.length >= 2 * this.depth) this.slots.splice(0, this.slots.length - this.depth);
  }

  newest(count: number): number[] {
    return this.slots.slice(-Math.min(count, this.depth)).reverse();
  }
}

/**
 * The newest items by listing: everything, a community, an author. It holds slot numbers only and is filled again at
 * start from the last slots, because everything about a slot can be computed. A late item enters when it becomes
 * visible, at the head, as if it had been held back by a moderator.
 */
export class RecentIndex {
  private readonly timeline: Timeline;
  private readonly threads: Threads;
  private readonly attributes: (k: number) => Attributes;
  private readonly lists = new Map<string, NewestFirst>();
  private waiting: { k: number; visibleAt: number }[] = [];

  constructor(timeline: Timeline, threads: Threads, attributes: (k: number) => Attributes) {
    this.timeline = timeline;
    this.threads = threads;
    this.attributes = attributes;
  }

  /** Takes newly emitted slots in rising order; those not visible at `now` wait. */
  add(slots: readonly number[], now: number): void {
    const entering: { k: number; visibleAt: number }[] = [];
    for (const k of slots) {
      if (this.timeline.place(k).kind === 'comment') this.threads.add(k);
      const visibleAt = this.timeline.visibleAt(k);
      (visibleAt <= now ? entering : this.waiting).push({ k, visibleAt });
    }
    if (this.waiting.some((item) => item.visibleAt <= now)) {
      entering.push(...this.waiting.filter((item) => item.visibleAt <= now));
      this.waiting = this.waiting.filter((item) => item.visibleAt > now);
    }
    entering.sort((a, b) => a.visibleAt - b.visibleAt || a.k - b.k);
    for (const { k } of entering) this.enter(k);
  }

  private enter(k: number): void {
    const { community, author } = this.attributes(k);
    const kind = this.timeline.place(k).kind;
    this.listOf(kind, 'all', LISTING_DEPTH).add(k);
    this.listOf(kind, `r/${community}`, LISTING_DEPTH).add(k);
    this.listOf(kind, `u/${author}`, AUTHOR_DEPTH).add(k);
  }

  private listOf(kind: string, listing: string, depth: number): NewestFirst {
    const key = `${kind} ${listing}`;
    let list = this.lists.get(key);
    if (!list) this.lists.set(key, (list = new NewestFirst(depth)));
    return list;
  }

  /** The newest visible slots, newest first. `listing` is `all`, `r/NAME` or `u/NAME` in lower case. */
  newest(kind: 'post' | 'comment', listing: string, count = LISTING_DEPTH): number[] {
    return this.lists.get(`${kind} ${listing}`)?.newest(count) ?? [];
  }

  /** The newest of several communities together, newest first. */
  newestOf(kind: 'post' | 'comment', communities: readonly string[], count = LISTING_DEPTH): number[] {
    if (communities.length === 1) return this.newest(kind, `r/${communities[0]!}`, count);
    const slots = communities.flatMap((name) => this.newest(kind, `r/${name}`, count));
    const keyed = slots.map((k) => ({ k, at: this.timeline.visibleAt(k) }));
    return keyed
      .sort((a, b) => b.at - a.at || b.k - a.k)
      .slice(0, count)
      .map((item) => item.k);
  }
}
