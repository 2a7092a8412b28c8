import { IdStretches } from './id-stretches.ts';
import type { IdStretch } from './id-stretches.ts';
import { idToNumber, numberToId, supportedHead } from './post-id.ts';
import { SeenThings } from '../seen-things.ts';

const IDS_PER_CALL = 100;
/** At most so many of a call's ids are missing ones asked again, so that the head never waits for them. */
const RECHECKS_PER_CALL = 50;
/** Since it was first asked for: an id that is not there by the last of these is counted absent. */
const LADDER_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
/** Missing ids of an hour at 10 % holes and 50 posts a second; beyond that the oldest are given up. */
const MOST_MISSING = 20_000;
/** A head that is further away than this is jumped to, and what lies between is caught up on aside. */
const FAR_BEHIND = 1_000n;

/** So many of the hundred ids up to a far head must exist before it is jumped to. */
const LEAST_NEIGHBOURS = 3;
const REJECTED_HEADS = 1_000;
/**
 * So many looks in a row must find the walk far ahead of the listing, and nothing where it stands, before it goes back.
 */
const LOOKS_BEFORE_RETURN = 3;

interface Missing {
  id: string;
  askedFirst: number;
  /** Rung of the ladder that comes next. */
  rung: number;
}

/** What one call asks for. */
export interface WalkStep {
  ids: string[];
  /**
   * head: the next ids at the newest end, with missing ones that are due; catch-up: a stretch left behind; probe: the
   * ids up to a far head, which is jumped to when several of them exist.
   */
  purpose: 'head' | 'catch-up' | 'probe';
}

/** What a walk has to tell since the last time. */
export interface WalkNews {
  /** Ids counted absent. */
  absent: number;
  /** Far heads that were not jumped to, because nothing else is there. */
  rejected: string[];
  /** Stretches that will not be asked for. Without `from` it is not known where they begin. */
  givenUp: { from?: string; to: string }[];
  /** Where the walk went back to from ids at which nothing is. */
  wentBackTo: string | undefined;
}

export interface WalkPosition {
  /** The first id never asked for. */
  next: string;
  /** Stretches [from, to) left behind when the head was jumped to. */
  stretches: [string, string][];
  missing: [id: string, askedFirst: number, rung: number][];
}

/**
 * Which post ids to ask for next. Ids are handed out in sequence, but some never appear and some appear late; so the
 * walk goes on past an id that is not there as soon as a later one is, and asks for it again on a ladder. Beyond the
 * newest known id nothing is concluded. The walk itself knows no time and makes no calls: `now` is milliseconds since
 * 1970.
 */
export class PostIdWalk {
  private next: bigint;
  private head: bigint;
  private readonly stretches: IdStretches;
  private readonly missing = new Map<string, Missing>();
  private turn = 0;
  /** A far head that is to be probed. */
  private candidate: bigint | undefined;
  private readonly rejectedHeads = new SeenThings(REJECTED_HEADS);
  /** The newest id in the listing that has neighbours: nothing above it is caught up on. */
  private listedHead: bigint | undefined;
  private looksFarAhead = 0;
  private news: WalkNews = { absent: 0, rejected: [], givenUp: [], wentBackTo: undefined };

  /** A position saved earlier, or the newest post's id, where a first walk begins just after `margin` ids before it. */
  constructor(start: WalkPosition | { head: string; margin: number }) {
    if ('head' in start) {
      this.head = idToNumber(start.head);
      this.next = this.head - BigInt(start.margin) + 1n;
      if (this.next < 0n) this.next = 0n;
      this.stretches = new IdStretches();
      return;
    }
    this.next = idToNumber(start.next);
    this.head = this.next - 1n;
    this.stretches = new IdStretches(
      start.stretches.map(([from, to]): IdStretch => ({ from: idToNumber(from), to: idToNumber(to) })),
    );
    for (const [id, askedFirst, rung] of start.missing) this.missing.set(id, { id, askedFirst, rung });
  }

  /**
   * The ids of the newest posts, in any order. The walk goes on to a near head; a far one is jumped to, so that new
   * posts never wait for old ones, but only when a probe finds several posts there: one far-off id must not lead the
   * walk astray. Where the walk itself is far ahead of the listing, and finds nothing, it goes back.
   */
  learnNewest(ids: readonly string[]): void {
    this.listedHead = supportedHead(ids) ?? this.listedHead;
    for (const id of ids) {
      const head = idToNumber(id);
      if (head <= this.head || this.rejectedHeads.has(id)) continue;
      if (head - this.next < FAR_BEHIND) this.head = head;
      else if (this.candidate === undefined || head > this.candidate) this.candidate = head;
    }
    const isFarAhead = this.listedHead !== undefined && this.next - this.listedHead > FAR_BEHIND;
    this.looksFarAhead = isFarAhead ? this.looksFarAhead + 1 : 0;
    if (this.listedHead !== undefined && this.looksFarAhead >= LOOKS_BEFORE_RETURN) this.goBack(this.listedHead);
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
    return this.stretches.size > 0;
  }

  /** The next call. Every second one may catch up, when `mayCatchUp`. */
  step(now: number, mayCatchUp: boolean): WalkStep {
    this.turn += 1;
    if (this.candidate !== undefined) return { ids: idsUpTo(this.candidate).map(numberToId), purpose: 'probe' };
    if (mayCatchUp && this.turn % 2 === 0) {
      const ids = this.stretches.next(IDS_PER_CALL, this.listedHead ?? this.head);
      if (ids.length > 0) return { ids: ids.map(numberToId), purpose: 'catch-up' };
    }
    const ids = this.due(now, RECHECKS_PER_CALL);
    for (let id = this.next; ids.length < IDS_PER_CALL; id += 1n) ids.push(numberToId(id));
    return { ids, purpose: 'head' };
  }

  /** Learns what a call brought; called after its posts were acknowledged. */
  learn(step: WalkStep, found: ReadonlySet<string>, now: number): void {
    if (step.purpose === 'probe' && !this.jump(step.ids, found)) return;
    if (step.purpose === 'catch-up') this.stretches.shorten(BigInt(step.ids.length));
    for (const id of step.ids) {
      const value = idToNumber(id);
      if (found.has(id) && value > this.head) this.head = value;
    }
    for (const id of step.ids) {
      if (found.has(id)) this.missing.delete(id);
      else if (this.missing.has(id)) this.climb(id, now);
      else if (idToNumber(id) <= this.head) this.missing.set(id, { id, askedFirst: now, rung: 0 });
    }
    if (step.purpose !== 'catch-up') this.moveNext(step.ids);
    this.giveUpOldest();
  }

  /** What happened since the last call of this. */
  takeNews(): WalkNews {
    const { news } = this;
    for (const { from, to } of this.stretches.takeGivenUp()) {
      news.givenUp.push({ from: numberToId(from), to: numberToId(to) });
    }
    this.news = { absent: 0, rejected: [], givenUp: [], wentBackTo: undefined };
    return news;
  }

  position(): WalkPosition {
    return {
      next: numberToId(this.next),
      stretches: this.stretches.list().map(({ from, to }) => [numberToId(from), numberToId(to)]),
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
    this.news.absent += 1;
  }

  private moveNext(asked: readonly string[]): void {
    for (const id of asked) {
      const value = idToNumber(id);
      if (value < this.next || value > this.head) continue;
      this.next = value + 1n;
      this.looksFarAhead = 0;
    }
  }

  /** Jumps to the far head just probed when several posts are there; false when they are not. */
  private jump(probed: readonly string[], found: ReadonlySet<string>): boolean {
    const { candidate } = this;
    this.candidate = undefined;
    if (candidate === undefined) return false;
    if (probed.filter((id) => found.has(id)).length < LEAST_NEIGHBOURS) {
      const id = numberToId(candidate);
      this.rejectedHeads.add(id);
      this.news.rejected.push(id);
      return false;
    }
    const [first = candidate] = idsUpTo(candidate);
    this.stretches.add({ from: this.next, to: first });
    this.next = first;
    if (this.listedHead !== undefined && this.listedHead < candidate) this.listedHead = candidate;
    return true;
  }

  /**
   * Back to where the newest posts are. Ids above were asked for before they existed, so nothing is concluded about
   * them.
   */
  private goBack(head: bigint): void {
    this.looksFarAhead = 0;
    for (const id of this.missing.keys()) if (idToNumber(id) > head) this.missing.delete(id);
    const [first = head] = idsUpTo(head);
    const left = this.stretches.cutAt(head);
    this.head = head;
    this.next = left && left.from > first ? left.from : first;
    if (left) this.stretches.add({ from: left.from, to: this.next });
    else this.news.givenUp.push({ to: numberToId(first) });
    this.news.wentBackTo = numberToId(this.next);
  }

  private giveUpOldest(): void {
    for (const id of this.missing.keys()) {
      if (this.missing.size <= MOST_MISSING) return;
      this.missing.delete(id);
      this.news.absent += 1;
    }
  }
}

/** The ids of one call, up to and including `last`. */
function idsUpTo(last: bigint): bigint[] {
  const ids: bigint[] = [];
  for (let id = last - BigInt(IDS_PER_CALL) + 1n; id <= last; id += 1n) if (id >= 0n) ids.push(id);
  return ids;
}
