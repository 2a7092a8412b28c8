import { hash32, PURPOSE } from '../content/seeded-random.ts';

/**
 * Slots and ids. Slot k = 0, 1, 2 … is one post or comment. A block of eight slots has one post, at an offset that
 * depends on the seed, and seven comments. So post numbers and comment numbers both count up without gaps, and an id
 * can be converted back to its slot without a table.
 */
export const BLOCK = 8;
const COMMENTS_PER_BLOCK = BLOCK - 1;

const FIRST_POST_ID = parseInt('1r00000', 36);
const FIRST_COMMENT_ID = parseInt('p000000', 36);
/** Sequential comment ids stay below 36^9 (100 trillion) and random ones begin at 2^62, so no id belongs to both. */
const MAX_SEQUENTIAL_ID_LENGTH = 9;
const RANDOM_ID_BASE = 2n ** 62n;
const HALF_BITS = 31n;
const HALF = 2 ** 31;
const ROUNDS = [11, 23, 37, 53] as const;

export type CommentIds = 'sequential' | 'random';
export type SlotItem = { kind: 'post' | 'comment'; number: number };

/** The first block begins with its post, so that every comment has a post before it. */
function postOffset(seed: number, block: number): number {
  return block === 0 ? 0 : hash32(seed, block, PURPOSE.postOffset) % BLOCK;
}

export function itemOfSlot(seed: number, k: number): SlotItem {
  const block = Math.floor(k / BLOCK);
  const offset = k - block * BLOCK;
  const post = postOffset(seed, block);
  if (offset === post) return { kind: 'post', number: block };
  return { kind: 'comment', number: block * COMMENTS_PER_BLOCK + offset - (offset > post ? 1 : 0) };
}

export function slotOfPost(seed: number, number: number): number {
  return number * BLOCK + postOffset(seed, number);
}

export function slotOfComment(seed: number, number: number): number {
  const block = Math.floor(number / COMMENTS_PER_BLOCK);
  const rank = number - block * COMMENTS_PER_BLOCK;
  return block * BLOCK + rank + (rank >= postOffset(seed, block) ? 1 : 0);
}

export function postId(number: number): string {
  return (FIRST_POST_ID + number).toString(36);
}

/**
 * A sequential id, or a Feistel permutation of 62 bits with 12 to 13 characters. The permutation is a bijection, so two
 * comments never share an id.
 */
export function commentId(seed: number, number: number, ids: CommentIds): string {
  if (ids === 'sequential') return (FIRST_COMMENT_ID + number).toString(36);
  let left = Math.floor(number / HALF);
  let right = number % HALF;
  for (const round of ROUNDS) {
    [left, right] = [right, left ^ (hash32(seed ^ round, right, PURPOSE.feistel) & (HALF - 1))];
  }
  return (RANDOM_ID_BASE + ((BigInt(left) << HALF_BITS) | BigInt(right))).toString(36);
}

function commentNumber(seed: number, id: string): { number: number; ids: CommentIds } | undefined {
  if (id.length <= MAX_SEQUENTIAL_ID_LENGTH) {
    const number = parseInt(id, 36) - FIRST_COMMENT_ID;
    return number >= 0 ? { number, ids: 'sequential' } : undefined;
  }
  let value = 0n;
  for (const character of id) value = value * 36n + BigInt(parseInt(character, 36));
  value -= RANDOM_ID_BASE;
  if (value < 0n || value >= RANDOM_ID_BASE) return undefined;
  let left = Number(value >> HALF_BITS);
  let right = Number(value & BigInt(HALF - 1));
  for (const round of [...ROUNDS].reverse()) {
    [left, right] = [right ^ (hash32(seed ^ round, left, PURPOSE.feistel) & (HALF - 1)), left];
  }
  const number = left * HALF + right;
  return Number.isSafeInteger(number) ? { number, ids: 'random' } : undefined;
}

/** The slot and the id scheme of a fullname; undefined for a malformed one. Does not check whether the slot exists. */
export function slotOfName(seed: number, name: string): { k: number; ids: CommentIds } | undefined {
  const parts = /^(t1|t3)_([0-9a-z]{1,13})$/.exec(name);
  if (!parts) return undefined;
  const id = parts[2]!;
  if (id.startsWith('0')) return undefined;
  if (parts[1] === 't3') {
    const number = parseInt(id, 36) - FIRST_POST_ID;
    if (number < 0 || !Number.isSafeInteger(number * BLOCK)) return undefined;
    return { k: slotOfPost(seed, number), ids: 'sequential' };
  }
  const comment = commentNumber(seed, id);
  if (!comment || !Number.isSafeInteger(comment.number * 2)) return undefined;
  return { k: slotOfComment(seed, comment.number), ids: comment.ids };
}
