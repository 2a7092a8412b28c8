import { IdStretches } from './id-stretches.ts';
import { idToNumber, numberToId, supportedHead } from './post-id.ts';
import { SeenThings } from '../seen-things.ts';

const IDS_PER_CALL = 100;
/** The share of a call for ids that were missing earlier, so that every call also asks for new ids. */
const RECHECKS_PER_CALL = 50;
/**
 * When a missing id is requested again, in milliseconds since its first request. An id that is still missing at the
 * last of these counts as absent.
 */
const RECHECK_AFTER_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
/**
 * The missing ids of an hour at 10 % holes and 50 posts a second. Beyond this the oldest count as absent and
 * are reported as given up.
 */
const MAX_MISSING = 20_000;
/** The walk jumps to a head further away than this. The skipped ids become a stretch that is caught up separately. */
const FAR_BEHIND = 1_000n;

/** The number of the hundred ids up to a far head that must exist before the walk jumps there. */
const MIN_NEIGHBOURS = 3;
const REJECTED_HEADS = 1_000;
/**
 * The walk returns to the listing's head after this many consecutive checks that find it far ahead of the listing, with
 * no post found in between.
 */
const CHECKS_BEFORE_RETURN = 3;

interface Missing {
  id: string;
  firstAskedAt: number;
  /** The rechecks done or skipped so far: the index of the next one in RECHECK_AFTER_MS. */
  rechecks: number;
}

/** The ids of one call. */
export interface WalkStep {
  ids: string[];
  /**
   * head: the next new ids, and missing ids that are due for a recheck. catch-up: ids of a skipped stretch. probe: the
   * ids up to a far head, to which the walk jumps if several of them exist.
   */
  purpose: 'head' | 'catch-up' | 'probe';
}

/** What happened to a walk since the last call of `takeEvents`. */
export interface WalkEvents {
  /** The number of ids counted as absent. */
  absent: number;
  /** Far heads that the walk ignores because they have no neighbours. */
  rejected: string[];
  /** Stretches that the walk skipped, to be caught up. */
  skipped: { from: string; to: string }[];
  /** Stretches that are caught up: the end, and how many posts were found in them. */
  caughtUp: { to: string; found: number }[];
  /** Stretches that will not be requested. `from` is missing where the begin is unknown. */
  givenUp: { from?: string; to: string }[];
  /** The id to which the walk returned because it was far ahead of the newest posts. */
  returnedTo: string | undefined;
}

export interface WalkPosition {
  /** The first id that was never requested. */
  next: string;
  /** The stretches [from, to) that the walk skipped when it jumped, and how many of their posts were found so far. */
  stretches: ([string, string] | [string, string, number])[];
  missing: [id: string, firstAskedAt: number, rechecks: number][];
}

/**
 * Decides which post ids to request next. The forum assigns ids in sequence, but some never appear and some appear
 * late. So the walk passes a missing id as soon as a later one exists, and requests it again after the times in
 * RECHECK_AFTER_MS. An id above the newest known one never counts as missing, because it may not be assigned yet. The
 * walk has no clock and makes no calls: `now` is in milliseconds since 1970.
 */
export class PostIdWalk {
  private next: bigint;
  private head: bigint;
  private readonly stretches: IdStretches;
  private readonly missing = new Map<string, Missing>();
  private calls = 0;
  /** A far head to probe in the next call. */
  private candidate: bigint | undefined;
  private readonly rejectedHeads = new SeenThings(REJECTED_HEADS);
  /** The newest id in the listing that has neighbours. Ids above it are not caught up. */
  private listedHead: bigint | undefined;
  private checksFarAhead = 0;
  private events: WalkEvents = noEvents();

  /** `start`: a saved position, or for a first walk the newest post's id and how many ids to read up to it. */
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
      start.stretches.map(([from, to, found = 0]) => ({ from: idToNumber(from), to: idToNumber(to), found })),
    );
    for (const [id, firstAskedAt, rechecks] of start.missing) this.missing.set(id, { id, firstAskedAt, rechecks });
  }

  /**
   * Tells the walk the ids of the newest posts, in any order. The walk continues to a near head. It jumps to a far one,
   * so that new posts do not wait for old ones, but only after a probe finds several posts there, because a single
   * outlier is not a head. If the walk is far ahead of the listing and finds no posts, it returns to the listing's
   * head.
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
    this.checksFarAhead = isFarAhead ? this.checksFarAhead + 1 : 0;
    if (this.listedHead !== undefined && this.checksFarAhead >= CHECKS_BEFORE_RETURN) this.returnTo(this.listedHead);
  }

  /** True while ids up to the newest known one, outside the stretches, were never requested. */
  get isBehind(): boolean {
    return this.next <= this.head;
  }

  /** The first id that was never requested; it grows when new posts are found. */
  get nextId(): string {
    return numberToId(this.next);
  }

  get hasStretches(): boolean {
    return this.stretches.size > 0;
  }

  /** Returns the ids of the next call. If `mayCatchUp`, every second call may catch up a stretch. */
  step(now: number, mayCatchUp: boolean): WalkStep {
    this.calls += 1;
    if (this.candidate !== undefined) return { ids: idsUpTo(this.candidate).map(numberToId), purpose: 'probe' };
    if (mayCatchUp && this.calls % 2 === 0) {
      const ids = this.stretches.next(IDS_PER_CALL, this.listedHead ?? this.head);
      if (ids.length > 0) return { ids: ids.map(numberToId), purpose: 'catch-up' };
    }
    const ids = this.dueRechecks(now, RECHECKS_PER_CALL);
    for (let id = this.next; ids.length < IDS_PER_CALL; id += 1n) ids.push(numberToId(id));
    return { ids, purpose: 'head' };
  }

  /** Takes in the result of a call, after the broker has acknowledged its posts. */
  learn(step: WalkStep, found: ReadonlySet<string>, now: number): void {
    if (step.purpose === 'probe' && !this.jump(step.ids, found)) return;
    if (step.purpose === 'catch-up') this.stretches.shorten(BigInt(step.ids.length), found.size);
    for (const id of step.ids) {
      const value = idToNumber(id);
      if (found.has(id) && value > this.head) this.head = value;
    }
    for (const id of step.ids) {
      if (found.has(id)) this.missing.delete(id);
      else if (this.missing.has(id)) this.scheduleNextRecheck(id, now);
      else if (idToNumber(id) <= this.head) this.missing.set(id, { id, firstAskedAt: now, rechecks: 0 });
    }
    if (step.purpose !== 'catch-up') this.moveNext(step.ids);
    this.giveUpOldest();
  }

  /** Returns what happened since the last call. */
  takeEvents(): WalkEvents {
    const { events } = this;
    for (const { from, to } of this.stretches.takeGivenUp()) {
      events.givenUp.push({ from: numberToId(from), to: numberToId(to) });
    }
    for (const { to, found } of this.stretches.takeCaughtUp()) events.caughtUp.push({ to: numberToId(to), found });
    this.events = noEvents();
    return events;
  }

  position(): WalkPosition {
    return {
      next: numberToId(this.next),
      stretches: this.stretches.list().map(({ from, to, found }) => [numberToId(from), numberToId(to), found]),
      missing: [...this.missing.values()].map(({ id, firstAskedAt, rechecks }) => [id, firstAskedAt, rechecks]),
    };
  }

  private dueRechecks(now: number, limit: number): string[] {
    const ids: string[] = [];
    for (const { id, firstAskedAt, rechecks } of this.missing.values()) {
      if (ids.length >= limit) break;
      if (now >= firstAskedAt + (RECHECK_AFTER_MS[rechecks] ?? 0)) ids.push(id);
    }
    return ids;
  }

  /** Skips rechecks whose time has passed during an outage or a stop, so that an id is not requested in a burst. */
  private scheduleNextRecheck(id: string, now: number): void {
    const entry = this.missing.get(id);
    if (!entry) return;
    do entry.rechecks += 1;
    while (now >= entry.firstAskedAt + (RECHECK_AFTER_MS[entry.rechecks] ?? Number.POSITIVE_INFINITY));
    if (entry.rechecks < RECHECK_AFTER_MS.length) return;
    this.missing.delete(id);
    this.events.absent += 1;
  }

  private moveNext(asked: readonly string[]): void {
    for (const id of asked) {
      const value = idToNumber(id);
      if (value < this.next || value > this.head) continue;
      this.next = value + 1n;
      this.checksFarAhead = 0;
    }
  }

  /** Jumps to the far head just probed if several posts exist there; returns whether it did. */
  private jump(probed: readonly string[], found: ReadonlySet<string>): boolean {
    const { candidate } = this;
    this.candidate = undefined;
    if (candidate === undefined) return false;
    if (probed.filter((id) => found.has(id)).length < MIN_NEIGHBOURS) {
      const id = numberToId(candidate);
      this.rejectedHeads.add(id);
      this.events.rejected.push(id);
      return false;
    }
    const [first = candidate] = idsUpTo(candidate);
    this.skip(this.next, first);
    this.next = first;
    if (this.listedHead !== undefined && this.listedHead < candidate) this.listedHead = candidate;
    return true;
  }

  private skip(from: bigint, to: bigint): void {
    if (from >= to) return;
    this.events.skipped.push({ from: numberToId(from), to: numberToId(to) });
    this.stretches.add({ from, to });
  }

  /**
   * Returns to the newest posts. Ids above were requested before they existed, so their absence says nothing and they
   * stop counting as missing.
   */
  private returnTo(head: bigint): void {
    this.checksFarAhead = 0;
    for (const id of this.missing.keys()) if (idToNumber(id) > head) this.missing.delete(id);
    const [first = head] = idsUpTo(head);
    const left = this.stretches.cutAt(head);
    this.head = head;
    this.next = left && left.from > first ? left.from : first;
    if (left) this.skip(left.from, this.next);
    else this.events.givenUp.push({ to: numberToId(first) });
    this.events.returnedTo = numberToId(this.next);
  }

  /** Without its rechecks an id that appears late is not found, so the dropped ids are reported as given up. */
  private giveUpOldest(): void {
    const dropped: bigint[] = [];
    for (const id of this.missing.keys()) {
      if (this.missing.size <= MAX_MISSING) break;
      this.missing.delete(id);
      this.events.absent += 1;
      dropped.push(idToNumber(id));
    }
    const [first = 0n] = dropped;
    if (dropped.length === 0) return;
    const lowest = dropped.reduce((low, id) => (id < low ? id : low), first);
    const highest = dropped.reduce((high, id) => (id > high ? id : high), first);
    this.events.givenUp.push({ from: numberToId(lowest), to: numberToId(highest + 1n) });
  }
}

/** Returns the ids of one call, up to and including `last`. */
function idsUpTo(last: bigint): bigint[] {
  const ids: bigint[] = [];
  for (let id = last - BigInt(IDS_PER_CALL) + 1n; id <= last; id += 1n) if (id >= 0n) ids.push(id);
  return ids;
}

function noEvents(): WalkEvents {
  return { absent: 0, skipped: [], caughtUp: [], rejected: [], givenUp: [], returnedTo: undefined };
}
