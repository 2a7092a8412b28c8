import type { Threads } from '../content/threads.ts';
import type { Timeline } from './timeline.ts';

/** The upstream ends every listing after about a thousand items. Listings of authors end after 200 here. */
const LISTING_DEPTH = 1000;
const AUTHOR_DEPTH = 200;

export interface Attributes {
  /** Both names are in lower case. */
  community: string;
  author: string;
}

/** The newest slots of one listing. */
class NewestSlots {
  /** In the order in which they became visible. */
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
 * The newest items of each listing: all items, a community's, an author's. It stores only slot numbers and is rebuilt
 * from the last slots at start, because the content of a slot can be computed. A late item enters at the head when it
 * becomes visible, like an item that a moderator approved late.
 */
export class RecentIndex {
  private readonly timeline: Timeline;
  private readonly threads: Threads;
  private readonly attributes: (k: number) => Attributes;
  private readonly lists = new Map<string, NewestSlots>();
  private waiting: { k: number; visibleAt: number }[] = [];

  constructor(timeline: Timeline, threads: Threads, attributes: (k: number) => Attributes) {
    this.timeline = timeline;
    this.threads = threads;
    this.attributes = attributes;
  }

  /** Adds newly emitted slots, given in ascending order. Slots that are not visible at `now` enter later. */
  add(slots: readonly number[], now: number): void {
    const entering: { k: number; visibleAt: number }[] = [];
    for (const k of slots) {
      if (this.timeline.item(k).kind === 'comment') this.threads.add(k);
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
    const kind = this.timeline.item(k).kind;
    this.listOf(kind, 'all', LISTING_DEPTH).add(k);
    this.listOf(kind, `r/${community}`, LISTING_DEPTH).add(k);
    this.listOf(kind, `u/${author}`, AUTHOR_DEPTH).add(k);
  }

  private listOf(kind: string, listing: string, depth: number): NewestSlots {
    const key = `${kind} ${listing}`;
    let list = this.lists.get(key);
    if (!list) this.lists.set(key, (list = new NewestSlots(depth)));
    return list;
  }

  /** The newest visible slots, newest first. `listing` is `all`, `r/NAME` or `u/NAME` in lower case. */
  newest(kind: 'post' | 'comment', listing: string, count = LISTING_DEPTH): number[] {
    return this.lists.get(`${kind} ${listing}`)?.newest(count) ?? [];
  }

  /** The newest visible slots of several communities together, newest first. */
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
