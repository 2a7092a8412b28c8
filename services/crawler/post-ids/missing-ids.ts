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
