/** Saved positions hold so many names that are in no group. */
const SAVED_NAMES = 1_000;

interface Read {
  names: readonly string[];
  shownTo: number | undefined;
}

/**
 * Up to where communities were read that are in no group at the moment, because the budget does not suffice: a group
 * that takes them in again reads from there. Times are milliseconds since 1970.
 */
export class LeftOutCommunities {
  private readTo = new Map<string, number>();
  private readonly forgetAfterMs: number;

  /** @param forgetAfterMs after this time a community counts as one that was never read */
  constructor(forgetAfterMs: number) {
    this.forgetAfterMs = forgetAfterMs;
  }

  /** Notes that the groups were formed anew. */
  learn(before: readonly Read[], groups: readonly Read[], now: number): void {
    for (const { names, shownTo } of before) {
      if (shownTo !== undefined) for (const name of names) this.readTo.set(name, shownTo);
    }
    const grouped = new Set(groups.flatMap(({ names }) => names));
    for (const [name, at] of this.readTo) {
      if (grouped.has(name) || now - at > this.forgetAfterMs) this.readTo.delete(name);
    }
  }

  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.readTo.entries();
  }

  /** Those read last, by the time to which they were read. */
  saved(): { names: readonly string[]; at: number }[] {
    const byTime = new Map<number, string[]>();
    for (const [name, at] of this.readTo) byTime.set(at, [...(byTime.get(at) ?? []), name]);
    let left = SAVED_NAMES;
    const saved: { names: readonly string[]; at: number }[] = [];
    for (const [at, names] of [...byTime].sort(([a], [b]) => b - a)) {
      if (left <= 0) break;
      saved.push({ names: names.slice(0, left), at });
      left -= names.length;
    }
    return saved;
  }
}
