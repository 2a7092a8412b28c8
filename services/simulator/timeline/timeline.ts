import { PURPOSE, roll, hash32 } from '../content/seeded-random.ts';

/**
 * A block of eight slots has one post, at a seeded offset, and seven comments. So post and comment numbers count up
 * without gaps, and an id can be converted back to its slot without a table.
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
type SlotItem = { kind: 'post' | 'comment'; number: number };

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

function slotOfComment(seed: number, number: number): number {
  const block = Math.floor(number / COMMENTS_PER_BLOCK);
  const rank = number - block * COMMENTS_PER_BLOCK;
  return block * BLOCK + rank + (rank >= postOffset(seed, block) ? 1 : 0);
}

function postId(number: number): string {
  return (FIRST_POST_ID + number).toString(36);
}

/** Sequential, or a Feistel permutation of 62 bits, so that two comments never share an id. */
function commentId(seed: number, number: number, ids: CommentIds): string {
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
function slotOfName(seed: number, name: string): { k: number; ids: CommentIds } | undefined {
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

/**
 * Slot k is emitted at `at + (k − first + 1) · 1000 / rate`. `end` is null for the current run. Slots between two runs
 * never exist.
 */
export interface Run {
  first: number;
  end: number | null;
  /** Milliseconds since 1970. */
  at: number;
  /** Slots per second; 0 emits only injected items. */
  rate: number;
  ids: CommentIds;
  holes: number;
  late: number;
  /** A late slot becomes visible 1 s to this many seconds after its time; default 20. */
  late_seconds?: number | undefined;
  omissions?: Omissions | undefined;
}

/** Which comments a run does not show everywhere. Shares are of all comments, decided by seed and slot. */
export interface Omissions {
  /** Of the comments beyond `above` a second, this share is missing in /r/all/comments. */
  drop_all?: { share: number; above: number } | undefined;
  /** The share of items whose communities opted out of /r/all/…. */
  outside_all?: number | undefined;
  /** The share that only /api/info and the thread show. */
  thread_only?: number | undefined;
}

/** The widest place that shows an item: /r/all, its community and its author, or its thread. */
export type Shown = 'all' | 'community' | 'thread';

/** An item injected through the control route. It replaces the content of slot k. */
export interface Injected {
  k: number;
  at: number;
  ids: CommentIds;
  kind: 'post' | 'comment';
  title: string;
  text: string;
  author: string;
  subreddit: string;
  over_18: boolean;
  /** Comments: the slots of post and parent. */
  post: number | null;
  parent: number | null;
  /** The creation time that answers state, in milliseconds since 1970, if it is not `at`. */
  created?: number | undefined;
}

const DEFAULT_LATE_SECONDS = 20;
const COMMENT_SHARE = (BLOCK - 1) / BLOCK;

/**
 * Which slots exist, and since when. The end of a run is fixed before the next one begins, so the past never changes.
 */
export class Timeline {
  readonly seed: number;
  readonly runs: Run[];
  readonly injected = new Map<number, Injected>();
  /** All existing slots below this one have been emitted. */
  frontier: number;

  constructor(seed: number, runs: Run[], frontier: number) {
    this.seed = seed;
    this.runs = runs;
    this.frontier = frontier;
  }

  private runOf(k: number): Run | undefined {
    let low = 0;
    let high = this.runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.runs[middle]!.first <= k) low = middle + 1;
      else high = middle;
    }
    const run = this.runs[low - 1];
    return run && k < (run.end ?? this.frontier) ? run : undefined;
  }

  /** The largest slot at or below k that belongs to a run. A backward search uses it to skip the slots between runs. */
  lastWithinRun(k: number): number {
    if (this.runOf(k)) return k;
    for (let i = this.runs.length - 1; i >= 0; i--) {
      const run = this.runs[i]!;
      const end = run.end ?? this.frontier;
      if (end > run.first && end <= k) return end - 1;
    }
    return 0;
  }

  /** Slot 0, the first post, always exists. */
  isHole(run: Run, k: number): boolean {
    return k !== 0 && roll(this.seed, k, PURPOSE.hole) < run.holes;
  }

  exists(k: number): boolean {
    if (k >= this.frontier) return false;
    if (this.injected.has(k)) return true;
    const run = this.runOf(k);
    return run !== undefined && !this.isHole(run, k);
  }

  emittedAt(k: number): number | undefined {
    if (k >= this.frontier) return undefined;
    const injected = this.injected.get(k);
    if (injected) return injected.at;
    const run = this.runOf(k);
    return run && !this.isHole(run, k) ? emissionTime(run, k) : undefined;
  }

  /** `emittedAt` plus the delay of a late item; Infinity for a slot that does not exist. */
  visibleAt(k: number): number {
    const at = this.emittedAt(k);
    if (at === undefined) return Infinity;
    const run = this.injected.has(k) ? undefined : this.runOf(k);
    if (!run || k === 0 || roll(this.seed, k, PURPOSE.late) >= run.late) return at;
    const longest = 1000 * (run.late_seconds ?? DEFAULT_LATE_SECONDS);
    return at + 1000 + (longest - 1000) * roll(this.seed, k, PURPOSE.lateBy);
  }

  /** The creation time that answers state. It differs from `emittedAt` only for injected items with a wrong date. */
  createdAt(k: number): number {
    return this.injected.get(k)?.created ?? this.emittedAt(k)!;
  }

  omissionsOf(k: number): Omissions | undefined {
    return this.injected.has(k) ? undefined : this.runOf(k)?.omissions;
  }

  /** Where the item can be seen if its community is in /r/all. Posts are seen everywhere. */
  shownInAll(k: number): Shown {
    const run = this.injected.has(k) ? undefined : this.runOf(k);
    if (!run?.omissions || this.item(k).kind === 'post') return 'all';
    const { thread_only = 0, drop_all } = run.omissions;
    if (roll(this.seed, k, PURPOSE.omitted) < thread_only) return 'thread';
    if (!drop_all) return 'all';
    const beyond = Math.max(0, 1 - drop_all.above / (run.rate * COMMENT_SHARE * (1 - run.holes)));
    return roll(this.seed, k, PURPOSE.dropped) < drop_all.share * beyond ? 'community' : 'all';
  }

  item(k: number): SlotItem {
    return itemOfSlot(this.seed, k);
  }

  nameOf(k: number): string {
    return (this.item(k).kind === 'post' ? 't3_' : 't1_') + this.idOf(k);
  }

  idOf(k: number): string {
    const item = this.item(k);
    return item.kind === 'post' ? postId(item.number) : commentId(this.seed, item.number, this.idsAt(k));
  }

  /** The slot of a fullname; undefined if no item with this name is visible at `now`. */
  find(name: string, now: number): number | undefined {
    const slot = slotOfName(this.seed, name);
    if (!slot || this.visibleAt(slot.k) > now) return undefined;
    return name.startsWith('t3_') || slot.ids === this.idsAt(slot.k) ? slot.k : undefined;
  }

  private idsAt(k: number): CommentIds {
    return this.injected.get(k)?.ids ?? this.runOf(k)?.ids ?? 'sequential';
  }
}

export function emissionTime(run: Run, k: number): number {
  return run.rate === 0 ? Infinity : run.at + ((k - run.first + 1) * 1000) / run.rate;
}
