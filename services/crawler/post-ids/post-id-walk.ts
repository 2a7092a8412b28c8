import { SeenItems } from '../seen-items.ts';
import type { IdStretch, SavedMissing } from './walked-ids.ts';
import { IdStretches, idToNumber, MissingIds, numberToId, supportedHead } from './walked-ids.ts';

const IDS_PER_CALL = 100;
/** The share of a call for ids that were missing earlier, so that every call also asks for new ids. */
const RECHECKS_PER_CALL = 50;
/** The walk jumps to a head further away than this. The skipped ids become a stretch that is caught up separately. */
const FAR_BEHIND = 1_000n;

/** The number of the hundred ids up to a far head that must exist before the walk jumps there. */
const MIN_NEIGHBOURS = 3;
const REJECTED_HEADS = 1_000;
/** A call that finds one of its last ids was full: there are probably more ids above it. */
const LAST_OF_CALL = 10n;
/**
 * The walk returns to the listing's head after this many consecutive checks that find it far ahead of the listing, with
 * no post found in between.
 */
const CHECKS_BEFORE_RETURN = 3;

/** The ids of one call. Each step is passed to `learn` or `fail` once. */
export interface WalkStep {
  ids: string[];
  /** The new ids among them. A catch-up step has none. */
  range?: IdStretch;
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
  /** Ids that will not be requested: all of a stretch but `found`. `from` is missing where the begin is unknown. */
  givenUp: { from?: string; to: string; found?: number }[];
  /** The id to which the walk returned because it was far ahead of the newest posts. */
  returnedTo: string | undefined;
}

export interface WalkPosition {
  /** The first id that no call has answered. */
  next: string;
  /** The stretches [from, to) that the walk skipped when it jumped, and how many of their posts were found so far. */
  stretches: ([string, string] | [string, string, number])[];
  missing: SavedMissing[];
}

/**
 * Decides which post ids to request next. The forum assigns ids in sequence, but some never appear and some appear
 * late. So the walk passes a missing id as soon as a later one exists, and requests it again later (walked-ids.ts). An
 * id above the newest known one never counts as missing, because it may not be assigned yet. Calls may overlap while
 * the walk is behind the head. The walk has no clock and makes no calls: `now` is in milliseconds since 1970.
 */
export class PostIdWalk {
  /** The first id that no head step has asked for. */
  private next: bigint;
  /** The new ids of head steps without an answer. */
  private open: IdStretch[] = [];
  /** A probe or a catch-up step has no answer yet. */
  private isProbing = false;
  private isCatchingUp = false;
  private head: bigint;
  private readonly stretches: IdStretches;
  private readonly missing: MissingIds;
  private calls = 0;
  /** A far head to probe in the next call. */
  private candidate: bigint | undefined;
  private readonly rejectedHeads = new SeenItems(REJECTED_HEADS);
  /** The newest id in the listing that has neighbours. Ids above it are not caught up. */
  private listedHead: bigint | undefined;
  private checksFarAhead = 0;
  private wasFull = false;
  private events: WalkEvents = noEvents();

  /** `start`: a saved position, or for a first walk the newest post's id and how many ids to read up to it. */
  constructor(start: WalkPosition | { head: string; margin: number }) {
    if ('head' in start) {
      this.head = idToNumber(start.head);
      this.next = this.head - BigInt(start.margin) + 1n;
      if (this.next < 0n) this.next = 0n;
      this.stretches = new IdStretches();
      this.missing = new MissingIds();
      return;
    }
    this.next = idToNumber(start.next);
    this.head = this.next - 1n;
    this.stretches = new IdStretches(
      start.stretches.map(([from, to, found = 0]) => ({ from: idToNumber(from), to: idToNumber(to), found })),
    );
    this.missing = new MissingIds(start.missing);
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

  /** True while calls for new ids come back full: what the forum assigns may be further ahead than is known. */
  get isFull(): boolean {
    return this.wasFull;
  }

  /** The first id that no call has answered; it grows when new posts are found. */
  get nextId(): string {
    return numberToId(this.open.reduce((lowest, { from }) => (from < lowest ? from : lowest), this.next));
  }

  get hasStretches(): boolean {
    return this.stretches.size > 0;
  }

  /**
   * Returns the ids of the next call; undefined if it must wait for calls in flight. If `mayCatchUp`, every second call
   * may catch up a stretch.
   */
  step(now: number, mayCatchUp: boolean): WalkStep | undefined {
    if (this.candidate !== undefined) return this.probe(this.candidate);
    this.calls += 1;
    if (mayCatchUp && !this.isCatchingUp && this.calls % 2 === 0) {
      const ids = this.stretches.next(IDS_PER_CALL, this.listedHead ?? this.head);
      this.isCatchingUp = ids.length > 0;
      if (this.isCatchingUp) return { ids: ids.map(numberToId), purpose: 'catch-up' };
    }
    // Only one call at a time goes beyond the newest known id.
    if (this.isProbing || (this.open.length > 0 && !this.isBehind)) return undefined;
    const ids = this.missing.takeDue(now, RECHECKS_PER_CALL);
    const range = { from: this.next, to: this.next + BigInt(IDS_PER_CALL - ids.length) };
    for (let id = range.from; id < range.to; id += 1n) ids.push(numberToId(id));
    this.open.push(range);
    this.next = range.to;
    return { ids, range, purpose: 'head' };
  }

  /** Waits for the head steps, so that a jump skips only ids that no call has asked for. */
  private probe(candidate: bigint): WalkStep | undefined {
    if (this.isProbing || this.open.length > 0) return undefined;
    this.isProbing = true;
    const ids = idsUpTo(candidate);
    return { ids: ids.map(numberToId), range: { from: ids[0] ?? candidate, to: candidate + 1n }, purpose: 'probe' };
  }

  /** Takes back a step whose call failed. */
  fail(step: WalkStep): void {
    this.close(step);
    if (step.purpose === 'head' && step.range && step.range.from < this.next) this.next = step.range.from;
  }

  private close({ ids, purpose, range }: WalkStep): void {
    if (purpose === 'probe') this.isProbing = false;
    if (purpose === 'catch-up') this.isCatchingUp = false;
    this.open = this.open.filter((one) => one !== range);
    this.missing.answered(ids);
  }

  /** Takes in the result of a call, after the broker has acknowledged its posts. */
  learn(step: WalkStep, found: ReadonlySet<string>, now: number): void {
    this.close(step);
    if (step.purpose === 'probe' && !this.jump(step, found)) return;
    const [first] = step.ids;
    if (step.purpose === 'catch-up' && first !== undefined)
      this.stretches.shorten(idToNumber(first), BigInt(step.ids.length), found.size);
    for (const id of step.ids) {
      const value = idToNumber(id);
      if (found.has(id) && value > this.head) this.head = value;
    }
    for (const id of step.ids) {
      if (found.has(id)) this.missing.remove(id);
      else if (!this.missing.has(id) && idToNumber(id) > this.head) continue;
      else if (this.missing.note(id, now, step.purpose === 'catch-up')) this.events.absent += 1;
    }
    if (step.range) this.settle(step.range);
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
      next: this.nextId,
      stretches: this.stretches.list().map(({ from, to, found }) => [numberToId(from), numberToId(to), found]),
      missing: this.missing.list(),
    };
  }

  /** An id above the newest known one may not be assigned yet, so it is asked for again. */
  private settle({ from, to }: IdStretch): void {
    if (from <= this.head) this.checksFarAhead = 0;
    this.wasFull = this.head + LAST_OF_CALL >= to;
    const unsettled = this.head + 1n > from ? this.head + 1n : from;
    if (unsettled < to && unsettled < this.next) this.next = unsettled;
  }

  /** Jumps to the far head just probed if several posts exist there; returns whether it did. */
  private jump({ ids, range }: WalkStep, found: ReadonlySet<string>): boolean {
    if (!range) return false;
    const probed = range.to - 1n;
    // The listing may have shown a newer head since; it is learned again with the next listing.
    this.candidate = undefined;
    if (ids.filter((id) => found.has(id)).length < MIN_NEIGHBOURS) {
      const id = numberToId(probed);
      this.rejectedHeads.add(id);
      this.events.rejected.push(id);
      return false;
    }
    this.skip(this.next, range.from);
    this.next = range.to;
    if (this.listedHead !== undefined && this.listedHead < probed) this.listedHead = probed;
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
    this.missing.removeWhere((id) => idToNumber(id) > head);
    const [first = head] = idsUpTo(head);
    const left = this.stretches.cutAt(head);
    this.head = head;
    this.next = left && left.from > first ? left.from : first;
    if (left) this.skip(left.from, this.next);
    else this.events.givenUp.push({ to: numberToId(first) });
    this.events.returnedTo = numberToId(this.next);
  }

  private giveUpOldest(): void {
    const dropped = this.missing.dropOldest().map(idToNumber);
    const [first] = dropped;
    if (first === undefined) return;
    this.events.absent += dropped.length;
    const lowest = dropped.reduce((low, id) => (id < low ? id : low), first);
    const highest = dropped.reduce((high, id) => (id > high ? id : high), first);
    const found = Number(highest - lowest) + 1 - dropped.length;
    this.events.givenUp.push({ from: numberToId(lowest), to: numberToId(highest + 1n), found });
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
