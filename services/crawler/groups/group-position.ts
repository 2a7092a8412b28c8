import type { CommunityGroup } from './community-group.ts';
import { SLOW_INTERVAL_MS } from './form-groups.ts';
import type { KnownPart } from './group-reading.ts';

/** Where reading resumes after a restart, in milliseconds since 1970: what the forum dates before is known. */
export interface GroupPosition {
  /** Groups with short intervals, and communities that were left out lately. */
  groups: { names: readonly string[]; at: number }[];
  /** All other communities; absent while nothing was read. */
  rest?: number | undefined;
  /** The slow groups. */
  slow?: number | undefined;
}

/** The position, and what is saved apart from it, when groups are formed. */
export interface SavedReading extends GroupPosition {
  /** The communities of all groups that were not slow; undefined: not known. */
  prompt?: ReadonlySet<string> | undefined;
}

/** What is known of how far communities were read; of several, the last one that names a community. */
interface KnownReading {
  saved: SavedReading;
  /** Times by names, in milliseconds since 1970. */
  leftOut: Iterable<[string, number]>;
  groups: readonly CommunityGroup[];
}

/**
 * Returns up to where a community was read, for a group of this longest interval. One that is in no saved group
 * was read up to the time of the slow groups, unless it is known that it was in another one.
 */
export function knownParts({
  saved,
  leftOut,
  groups,
}: KnownReading): (name: string, maxIntervalMs: number) => readonly KnownPart[] {
  const byName = new Map<string, readonly KnownPart[]>();
  const read = (names: readonly string[], known: readonly KnownPart[]): void => {
    for (const name of names) byName.set(name, known);
  };
  const savedPart = (completeSince: number | undefined): KnownPart[] =>
    completeSince === undefined ? [] : [{ anchors: new Set(), completeSince }];
  for (const { names, at } of saved.groups) read(names, savedPart(at));
  for (const [name, at] of leftOut) read([name], savedPart(at));
  for (const { names, known } of groups) read(names, known);
  const others = savedPart(saved.rest);
  const slow = savedPart(saved.slow ?? saved.rest);
  const wasSlow = (name: string): boolean => saved.prompt !== undefined && !saved.prompt.has(name);
  return (name, maxIntervalMs) =>
    byName.get(name) ?? (maxIntervalMs === SLOW_INTERVAL_MS || wasSlow(name) ? slow : others);
}

/** Saved positions hold this many names that are in no group. */
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

  /** Notes that the groups were formed again. */
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

  /** The names read last, by the time to which they were read. */
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
