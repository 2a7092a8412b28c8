import type { Threads } from '../content/threads.ts';
import type { Shown, Timeline } from './timeline.ts';

/** The upstream ends every listing after about a thousand items. Listings of authors end after 200 here. */
const LISTING_DEPTH = 1000;
const AUTHOR_DEPTH = 200;

interface Attributes {
  /** Both names are in lower case. */
  community: string;
  author: string;
}

/** The newest slots of one listing, in the order of their keys. */
class NewestSlots {
  readonly slots: number[] = [];
  readonly keys: number[] = [];
  private readonly depth: number;

  constructor(depth: number) {
    this.depth = depth;
  }

  /** Keys usually ascend, so the search for the place begins at the end. */
  add(k: number, key: number): void {
    let place = this.slots.length;
    while (place > 0 && this.keys[place - 1]! > key) place--;
    this.slots.splice(place, 0, k);
    this.keys.splice(place, 0, key);
    if (this.slots.length < 2 * this.depth) return;
    this.slots.splice(0, this.slots.length - this.depth);
    this.keys.splice(0, this.keys.length - this.depth);
  }

  newest(count: number): number[] {
    return this.slots.slice(-Math.min(count, this.depth)).reverse();
  }
}

interface IndexDeps {
  timeline: Timeline;
  threads: Threads;
  attributes: (k: number) => Attributes;
  shownOf: (k: number) => Shown;
  lateDeep: boolean;
}

/**
 * The newest slots of each listing, rebuilt at start. A late item enters when it becomes visible: at the head, like one
 * that a moderator approved late, or at its place.
 */
export class RecentIndex {
  private readonly deps: IndexDeps;
  private readonly lists = new Map<string, NewestSlots>();
  private waiting: { k: number; visibleAt: number }[] = [];

  constructor(deps: IndexDeps) {
    this.deps = deps;
  }

  /** Adds newly emitted slots, given in ascending order. Slots that are not visible at `now` enter later. */
  add(slots: readonly number[], now: number): void {
    const { timeline, threads } = this.deps;
    const entering: { k: number; visibleAt: number }[] = [];
    for (const k of slots) {
      if (timeline.item(k).kind === 'comment') threads.add(k);
      const visibleAt = timeline.visibleAt(k);
      (visibleAt <= now ? entering : this.waiting).push({ k, visibleAt });
    }
    if (this.waiting.some((item) => item.visibleAt <= now)) {
      entering.push(...this.waiting.filter((item) => item.visibleAt <= now));
      this.waiting = this.waiting.filter((item) => item.visibleAt > now);
    }
    entering.sort((a, b) => a.visibleAt - b.visibleAt || a.k - b.k);
    for (const { k, visibleAt } of entering) this.enter(k, visibleAt);
  }

  private enter(k: number, visibleAt: number): void {
    const { timeline, threads, attributes, shownOf, lateDeep } = this.deps;
    const kind = timeline.item(k).kind;
    if (kind === 'comment') threads.becameVisible(k);
    const shown = shownOf(k);
    if (shown === 'thread') return;
    const { community, author } = attributes(k);
    const key = lateDeep ? k : visibleAt;
    if (shown === 'all') this.listOf(kind, 'all', LISTING_DEPTH).add(k, key);
    this.listOf(kind, `r/${community}`, LISTING_DEPTH).add(k, key);
    this.listOf(kind, `u/${author}`, AUTHOR_DEPTH).add(k, key);
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

  newestOf(kind: 'post' | 'comment', communities: readonly string[], count = LISTING_DEPTH): number[] {
    const found = [...new Set(communities)].flatMap((name) => {
      const list = this.lists.get(`${kind} r/${name}`);
      const keys = list?.keys.slice(-count).toReversed() ?? [];
      return (list?.newest(count) ?? []).map((k, at) => ({ k, key: keys[at]! }));
    });
    found.sort((a, b) => b.key - a.key || b.k - a.k);
    return found.slice(0, count).map(({ k }) => k);
  }
}
