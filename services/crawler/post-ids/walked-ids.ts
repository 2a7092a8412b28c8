const BASE = 36n;

/** Parses a base-36 id. Only post ids are sequential, so do arithmetic with no other ids. */
export function idToNumber(id: string): bigint {
  let value = 0n;
  for (const character of id) value = value * BASE + BigInt(parseInt(character, 36));
  return value;
}

export function numberToId(value: bigint): string {
  return value.toString(36);
}

/** Neighbours of an id are at most this far below it. The newest hundred posts of a site span far less. */
const NEIGHBOURHOOD = 10_000n;
const NEIGHBOURS = 3;

/**
 * Returns the newest id that has several other ids of the same page close below it, because a single outlier must not
 * become the head. Undefined if no id has: the page is too short, or its ids are not sequential.
 */
export function supportedHead(ids: readonly string[]): bigint | undefined {
  const newestFirst = ids.map(idToNumber).sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  return newestFirst.find((id, index) => {
    const neighbour = newestFirst[index + NEIGHBOURS];
    return neighbour !== undefined && id - neighbour <= NEIGHBOURHOOD;
  });
}

/**
 * Returns the id at which a first walk begins: the supported head, or the middle of a page without one. Undefined for
 * an empty page.
 */
export function firstHead(ids: readonly string[]): string | undefined {
  const supported = supportedHead(ids);
  if (supported !== undefined) return numberToId(supported);
  const sorted = [...ids].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** Each stretch comes from one outage or jump that is not caught up yet. Beyond this number the oldest are given up. */
const MAX_STRETCHES = 20;
/** More than a day of the whole site's posts, and three hours of catching up. Older ids are given up as gaps. */
const MAX_IDS = 2_000_000n;

/** The ids from `from` up to but not including `to`. */
export interface IdStretch {
  from: bigint;
  to: bigint;
}

/** A stretch that is being caught up, and how many of its ids were found so far. */
type OpenStretch = IdStretch & { found: number };

/** The stretches of ids that the walk skipped when it jumped, oldest first, bounded in number and length. */
export class IdStretches {
  private stretches: OpenStretch[];
  private givenUp: IdStretch[] = [];
  private caughtUp: OpenStretch[] = [];

  constructor(stretches: readonly OpenStretch[] = []) {
    this.stretches = stretches.map((stretch) => ({ ...stretch }));
  }

  get size(): number {
    return this.stretches.length;
  }

  list(): readonly OpenStretch[] {
    return this.stretches;
  }

  /** Adds a skipped stretch. Gives up the oldest ids where there are too many. */
  add(stretch: IdStretch): void {
    if (stretch.from >= stretch.to) return;
    this.stretches.push({ ...stretch, found: 0 });
    while (this.stretches.length > MAX_STRETCHES) {
      const { from, to } = this.stretches.shift()!;
      this.givenUp.push({ from, to });
    }
    let excess = this.stretches.reduce((sum, { from, to }) => sum + to - from, -MAX_IDS);
    while (excess > 0n) {
      const oldest = this.stretches[0]!;
      const length = oldest.to - oldest.from;
      const cut = length < excess ? length : excess;
      this.givenUp.push({ from: oldest.from, to: oldest.from + cut });
      oldest.from += cut;
      if (oldest.from >= oldest.to) this.stretches.shift();
      excess -= cut;
    }
  }

  /** Returns the next ids to request, at most `count`, none above `highest`. */
  next(count: number, highest: bigint): bigint[] {
    const ids: bigint[] = [];
    const stretch = this.stretches[0];
    for (let id = stretch?.from ?? 0n; stretch && id < stretch.to && id <= highest && ids.length < count; id += 1n) {
      ids.push(id);
    }
    return ids;
  }

  /**
   * Removes `count` ids from `first` on, the begin of the oldest stretch, after they were requested and `found` of them
   * exist. Does nothing if the oldest stretch has changed since the ids were handed out.
   */
  shorten(first: bigint, count: bigint, found: number): void {
    const stretch = this.stretches[0];
    if (stretch?.from !== first) return;
    stretch.from += count;
    stretch.found += found;
    if (stretch.from < stretch.to) return;
    this.stretches.shift();
    this.caughtUp.push(stretch);
  }

  /**
   * Removes the stretch that holds `id` and all later ones, which count as caught up. Returns the one that holds it.
   */
  cutAt(id: bigint): IdStretch | undefined {
    const holding = this.stretches.find(({ from, to }) => from <= id && id < to);
    this.caughtUp.push(...this.stretches.filter(({ to }) => to > id));
    this.stretches = this.stretches.filter(({ to }) => to <= id);
    return holding;
  }

  /** Returns the stretches whose ids were all requested since the last call. */
  takeCaughtUp(): OpenStretch[] {
    return this.caughtUp.splice(0);
  }

  /** Returns the stretches given up since the last call. */
  takeGivenUp(): IdStretch[] {
    return this.givenUp.splice(0);
  }
}

/**
 * When a missing id is requested again, in milliseconds since its first request. An id that is still missing at the
 * last of these counts as absent.
 */
const RECHECK_AFTER_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
/**
 * The missing ids of an hour at 10 % holes and 50 posts a second. Beyond this the oldest count as absent and are
 * reported as given up.
 */
const MAX_MISSING = 20_000;
/**
 * Ids of a skipped stretch wait only while fewer than this wait in all: a forum that skips many ids, or an outage of
 * hours, must not displace the ids near the newest one. Beyond this they count as absent after their first request.
 */
const ROOM_FOR_STRETCHES = 10_000;
/** They were assigned long before they were asked for, so their first recheck is the one after two minutes. */
const FIRST_RECHECK_OF_STRETCH = 2;

/** The rechecks are those done or skipped so far: the index of the next one in RECHECK_AFTER_MS. */
export type SavedMissing = [id: string, firstAskedAt: number, rechecks: number];

interface Missing {
  firstAskedAt: number;
  rechecks: number;
}

/** The ids that a call did not find although later ones exist, and when to request them again. */
export class MissingIds {
  private readonly missing: Map<string, Missing>;
  /** Ids that a call in flight asks for. */
  private readonly asked = new Set<string>();

  constructor(saved: readonly SavedMissing[] = []) {
    this.missing = new Map(saved.map(([id, firstAskedAt, rechecks]) => [id, { firstAskedAt, rechecks }]));
  }

  list(): SavedMissing[] {
    return [...this.missing].map(([id, { firstAskedAt, rechecks }]) => [id, firstAskedAt, rechecks]);
  }

  has(id: string): boolean {
    return this.missing.has(id);
  }

  remove(id: string): void {
    this.missing.delete(id);
  }

  removeWhere(matches: (id: string) => boolean): void {
    for (const id of this.missing.keys()) if (matches(id)) this.missing.delete(id);
  }

  /**
   * Returns the ids that are due, those with the fewest rechecks first, because most late ids appear soon. They count
   * as asked for until `answered`.
   */
  takeDue(now: number, limit: number): string[] {
    const due: string[][] = RECHECK_AFTER_MS.map(() => []);
    for (const [id, { firstAskedAt, rechecks }] of this.missing) {
      const isDue = now >= firstAskedAt + (RECHECK_AFTER_MS[rechecks] ?? 0);
      if (isDue && !this.asked.has(id)) due[Math.min(rechecks, due.length - 1)]?.push(id);
    }
    const ids = due.flat().slice(0, limit);
    for (const id of ids) this.asked.add(id);
    return ids;
  }

  /** The call that asked for these ids has ended. */
  answered(ids: readonly string[]): void {
    for (const id of ids) this.asked.delete(id);
  }

  /** Notes that an id was not found. Returns true if it counts as absent from now on. */
  note(id: string, now: number, isOfStretch: boolean): boolean {
    const entry = this.missing.get(id);
    if (entry) return this.noteAgain(id, entry, now);
    if (isOfStretch && this.missing.size >= ROOM_FOR_STRETCHES) return true;
    this.missing.set(id, { firstAskedAt: now, rechecks: isOfStretch ? FIRST_RECHECK_OF_STRETCH : 0 });
    return false;
  }

  /**
   * Counts a recheck that found nothing, and skips those whose time has passed during an outage or a stop, so that an
   * id is not requested in a burst. Returns true if it was the last one: the id is absent.
   */
  private noteAgain(id: string, entry: Missing, now: number): boolean {
    // After a failed call ids are requested again before their time.
    if (now < entry.firstAskedAt + (RECHECK_AFTER_MS[entry.rechecks] ?? 0)) return false;
    do entry.rechecks += 1;
    while (now >= entry.firstAskedAt + (RECHECK_AFTER_MS[entry.rechecks] ?? Number.POSITIVE_INFINITY));
    return entry.rechecks >= RECHECK_AFTER_MS.length && this.missing.delete(id);
  }

  /** Drops the oldest ids beyond the limit, and returns them: without its rechecks a late id is not found. */
  dropOldest(): string[] {
    const dropped: string[] = [];
    for (const id of this.missing.keys()) {
      if (this.missing.size <= MAX_MISSING) break;
      this.missing.delete(id);
      dropped.push(id);
    }
    return dropped;
  }
}
