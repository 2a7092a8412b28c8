const BASE = 36n;
const IDS_PER_CALL = 100;
/** At most so many of a call's ids are missing ones asked again, so that the head never waits for them. */
const RECHECKS_PER_CALL = 50;
/** Since it was first asked for: an id that is not there by the last of these is counted absent. */
const LADDER_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
/** Missing ids of an hour at 10 % holes and 50 posts a second; beyond that the oldest are given up. */
const MOST_MISSING = 20_000;
/** A head that is further away than this is jumped to, and what lies between is caught up on aside. */
const FAR_BEHIND = 1_000n;

/** Base-36 to number. Post ids alone are sequential, so only they may be counted with. */
export function idToNumber(id: string): bigint {
  let value = 0n;
  for (const character of id) value = value * BASE + BigInt(parseInt(character, 36));
  return value;
}

export function numberToId(value: bigint): string {
  return value.toString(36);
}

interface Missing {
  id: string;
  askedFirst: number;
  /** Rung of the ladder that comes next. */
  rung: number;
}

/** What one call asks for. */
export interface WalkStep {
  ids: string[];
  /** head: the next ids at the newest end, with missing ones that are due; catch-up: a stretch left behind. */
  purpose: 'head' | 'catch-up';
}

export interface WalkPosition {
  /** The first id never asked for. */
  next: string;
  /** Stretches [from, to) left behind when the head was jumped to. */
  stretches: [string, string][];
  missing: [id: string, askedFirst: number, rung: number][];
}

/**
 * Which post ids to ask for next. Ids are handed out in sequence, but some never appear and some appear late; so the walk
 * goes on past an id that is not there as soon as a later one is, and asks for it again on a ladder. Beyond the newest known
 * id nothing is concluded. The walk itself knows no time and makes no calls: `now` is milliseconds since 1970.
 */
export class PostIdWalk {
  private next: bigint;
  private head: bigint;
  private stretches: { from: bigint; to: bigint }[];
  private readonly missing = new Map<string, Missing>();
  /** Ids given up since the last look. */
  private absent = 0;
  private turn = 0;

  /** A position saved earlier, or the newest post's id, where a first walk begins just after `margin` ids before it. */
  constructor(start: WalkPosition | { head: string; margin: number }) {
    if ('head' in start) {
      this.head = idToNumber(start.head);
      this.next = this.head - BigInt(start.margin) + 1n;
      if (this.next < 0n) this.next = 0n;
      this.stretches = [];
      return;
    }
    this.next = idToNumber(start.next);
    this.head = this.next - 1n;
    this.stretches = start.stretches.map(([from, to]) => ({ from: idToNumber(from), to: idToNumber(to) }));
    for (const [id, askedFirst, rung] of start.missing) this.missing.set(id, { id, askedFirst, rung });
  }

  /** Some post of this id exists. A far head is jumped to, so that new posts never wait for old ones. */
  learnHead(id: string): void {
    const head = idToNumber(id);
    if (head > this.head) this.head = head;
    if (this.head - this.next < FAR_BEHIND) return;
    const from = this.next;
    this.next = this.head - BigInt(IDS_PER_CALL) + 1n;
    this.stretches.push({ from, to: this.next });
  }

  /** True while there are ids below the newest known one that were never asked for at the head. */
  get isBehind(): boolean {
    return this.next <= this.head;
  }

  /** The first id never asked for: it grows when new posts were found. */
  get nextId(): string {
    return numberToId(this.next);
  }

  get hasStretches(): boolean {
    return this.stretches.length > 0;
  }

  /** The next call. Every second one may catch up, when `mayCatchUp`. */
  step(now: number, mayCatchUp: boolean): WalkStep {
    this.turn += 1;
    const stretch = this.stretches[0];
    if (mayCatchUp && stretch && this.turn % 2 === 0) {
      const ids: string[] = [];
      for (let id = stretch.from; id < stretch.to && ids.length < IDS_PER_CALL; id += 1n) ids.push(numberToId(id));
      return { ids, purpose: 'catch-up' };
    }
    const ids = this.due(now, RECHECKS_PER_CALL);
    for (let id = this.next; ids.length < IDS_PER_CALL; id += 1n) ids.push(numberToId(id));
    return { ids, purpose: 'head' };
  }

  /** Learns what a call brought; called after its posts were acknowledged. */
  learn(step: WalkStep, found: ReadonlySet<string>, now: number): void {
    if (step.purpose === 'catch-up') this.shortenStretch(step.ids.length);
    for (const id of found) {
      const value = idToNumber(id);
      if (value > this.head) this.head = value;
    }
    for (const id of step.ids) {
      if (found.has(id)) this.missing.delete(id);
      else if (this.missing.has(id)) this.climb(id, now);
      else if (idToNumber(id) <= this.head) this.missing.set(id, { id, askedFirst: now, rung: 0 });
    }
    if (step.purpose === 'head') this.moveNext(step.ids);
    this.giveUpOldest();
  }

  /** Ids given up since the last call of this. */
  takeAbsent(): number {
    const count = this.absent;
    this.absent = 0;
    return count;
  }

  position(): WalkPosition {
    return {
      next: numberToId(this.next),
      stretches: this.stretches.map(({ from, to }) => [numberToId(from), numberToId(to)]),
      missing: [...this.missing.values()].map(({ id, askedFirst, rung }) => [id, askedFirst, rung]),
    };
  }

  private due(now: number, most: number): string[] {
    const ids: string[] = [];
    for (const { id, askedFirst, rung } of this.missing.values()) {
      if (ids.length >= most) break;
      if (now >= askedFirst + (LADDER_MS[rung] ?? 0)) ids.push(id);
    }
    return ids;
  }

  /** The rungs that passed unused (an outage, a stop) are passed over, so that one id is not asked for in a burst. */
  private climb(id: string, now: number): void {
    const entry = this.missing.get(id);
    if (!entry) return;
    do entry.rung += 1;
    while (now >= entry.askedFirst + (LADDER_MS[entry.rung] ?? Number.POSITIVE_INFINITY));
    if (entry.rung < LADDER_MS.length) return;
    this.missing.delete(id);
    this.absent += 1;
  }

  private moveNext(asked: readonly string[]): void {
    for (const id of asked) {
      const value = idToNumber(id);
      if (value >= this.next && value <= this.head) this.next = value + 1n;
    }
  }

  private shortenStretch(count: number): void {
    const stretch = this.stretches[0];
    if (!stretch) return;
    stretch.from += BigInt(count);
    if (stretch.from >= stretch.to) this.stretches.shift();
  }

  private giveUpOldest(): void {
    for (const id of this.missing.keys()) {
      if (this.missing.size <= MOST_MISSING) return;
      this.missing.delete(id);
      this.absent += 1;
    }
  }
}
