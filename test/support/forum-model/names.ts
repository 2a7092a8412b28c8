const KEYS = [0x2545f491, 0x1b873593, 0x4cf5ad43, 0x38b34ae5] as const;
const HALF_LENGTH = 6;
/** Two halves of 31 bits each, because a half must fit six characters of base 36. */
const MASK = 0x7fffffff;
/** The ordinal of a post plus this is its id. */
const POST_BASE = 36 ** 5;

/**
 * The fullname of the comment with this index: an opaque id of 12 or 13 characters. It comes from a Feistel permutation
 * of the index, so that neither direction needs a table of millions of names.
 */
export function commentName(index: number): string {
  let left = 0;
  let right = index;
  for (const key of KEYS) [left, right] = [right, left ^ mix(right, key)];
  const id = half(left) + half(right);
  return left % 2 === 0 ? `t1_${id}` : `t1_x${id}`;
}

/** The index of the comment with this fullname; undefined if it is no name of a comment. */
export function commentIndex(name: string): number | undefined {
  if (!name.startsWith('t1_')) return undefined;
  let left = parseInt(name.slice(-2 * HALF_LENGTH, -HALF_LENGTH), 36);
  let right = parseInt(name.slice(-HALF_LENGTH), 36);
  for (const key of KEYS.toReversed()) [left, right] = [right ^ mix(left, key), left];
  return left === 0 ? right : undefined;
}

/** The id of the post with this ordinal, without `t3_`. Ids are in sequence. */
export function postId(ordinal: number): string {
  return (POST_BASE + ordinal).toString(36);
}

/** The ordinal of a post from its id or fullname. It may belong to no post. */
export function postOrdinal(id: string): number {
  return parseInt(id.startsWith('t3_') ? id.slice(3) : id, 36) - POST_BASE;
}

function mix(value: number, key: number): number {
  let hash = Math.imul(value ^ key, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) & MASK;
}

function half(value: number): string {
  return value.toString(36).padStart(HALF_LENGTH, '0');
}
