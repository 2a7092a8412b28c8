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
