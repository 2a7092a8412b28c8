import type { CommunityGroup } from './community-group.ts';
import { SLOW_INTERVAL_MS } from './form-groups.ts';
import type { SavedReading } from './group-position.ts';
import type { KnownPart } from './group-reading.ts';

/** What is known of how far communities were read; of several, the last one that names a community. */
export interface KnownReading {
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
