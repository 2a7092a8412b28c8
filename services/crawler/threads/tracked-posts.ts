import { samplingHash } from '../coverage/thread-audit.ts';

export const CAPACITY = 500_000;
/** Instead of the creation time of a post. */
const UNUSED = Number.NEGATIVE_INFINITY;

export interface NewPost {
  postId: string;
  createdAt: number;
  /** Comments that are known to be archived; default: none. */
  comments?: number;
  subreddit?: string | undefined;
  /** The post is older than what the archive holds of it: only comments from now on are looked for. */
  isOld?: boolean;
}

/**
 * The posts of the sweep in columns, about 100 bytes each with the name: half a million fit into 50 MB, of which the
 * system provides only what is used. A post has a row until it is removed; the row is then used again.
 */
export class TrackedPosts {
  readonly ids: string[] = [];
  readonly createdAt = new Float64Array(CAPACITY);
  /** `communityKey` of its community. */
  readonly community = new Uint32Array(CAPACITY);
  /** When num_comments was asked last, as far as the answer was evaluated; before that, the creation. */
  readonly checkedAt = new Float64Array(CAPACITY);
  /** When nothing was missing that its thread shows: at a complete reading, or a check that found no deficit. */
  readonly completeAt = new Float64Array(CAPACITY);
  /** Comments that are known: num_comments, and those that other sources saw since; of an old post only the latter. */
  readonly comments = new Uint32Array(CAPACITY);
  /** num_comments at the last check. */
  readonly counted = new Uint32Array(CAPACITY);
  /** num_comments less the archived comments: what a complete reading could not find, and the last value. */
  readonly residual = new Int32Array(CAPACITY);
  readonly difference = new Int32Array(CAPACITY);
  /** Comments to be found by reading the thread; set by `setDeficit`. */
  readonly deficit = new Uint32Array(CAPACITY);
  /** 0, or for a post that is older than what the archive holds of it: 2 until its first check, then 1. */
  readonly isOld = new Uint8Array(CAPACITY);
  /** 1 while a check or a reading is under way. */
  readonly checking = new Uint8Array(CAPACITY);
  readonly reading = new Uint8Array(CAPACITY);
  /** Readings in a row that failed, or were broken off without having found anything. */
  readonly fruitless = new Uint8Array(CAPACITY);
  /** Its thread is not read before this time. */
  readonly restsUntil = new Float64Array(CAPACITY);
  /** The last check for which the archive was asked, and whether it has got comments since one began. */
  readonly askedAt = new Float64Array(CAPACITY);
  readonly hasGrown = new Uint8Array(CAPACITY);
  /** Rows with a deficit, the latest ones last. */
  readonly waiting = new Set<number>();
  private readonly rows = new Map<string, number>();
  private readonly free: number[] = [];

  get size(): number {
    return this.rows.size;
  }

  /** Rows from 0 to this one, not included, may be in use. */
  get end(): number {
    return this.ids.length;
  }

  isUsed(row: number): boolean {
    return this.createdAt[row] !== UNUSED;
  }

  rowOf(postId: string): number | undefined {
    return this.rows.get(postId);
  }

  /** The post must be unknown. */
  add({ postId, createdAt, comments = 0, subreddit, isOld = false }: NewPost): number {
    const row = this.free.pop() ?? this.ids.length;
    this.ids[row] = postId;
    this.rows.set(postId, row);
    this.createdAt[row] = createdAt;
    this.community[row] = communityKey(subreddit);
    this.checkedAt[row] = createdAt;
    this.completeAt[row] = 0;
    this.comments[row] = comments;
    this.counted[row] = 0;
    this.residual[row] = 0;
    this.difference[row] = 0;
    this.deficit[row] = 0;
    this.isOld[row] = isOld ? 2 : 0;
    this.checking[row] = 0;
    this.reading[row] = 0;
    this.fruitless[row] = 0;
    this.restsUntil[row] = 0;
    this.askedAt[row] = 0;
    this.hasGrown[row] = 1;
    return row;
  }

  /**
   * Corrects a post that counted as old because the archive had a comment of it before the post itself: all of its
   * comments are looked for, from the next check on.
   */
  markNew(row: number, { createdAt, isOld = false }: NewPost): void {
    if (isOld || this.isOld[row] === 0) return;
    this.isOld[row] = 0;
    this.createdAt[row] = createdAt;
    this.checkedAt[row] = createdAt;
    this.completeAt[row] = 0;
    this.residual[row] = 0;
    this.hasGrown[row] = 1;
  }

  /** Notes a check. `comments`: num_comments; undefined when the forum did not return the post. */
  noteCheck(row: number, checkedAt: number, comments = this.counted[row]!): void {
    this.counted[row] = comments;
    if (this.isOld[row] === 0) this.comments[row] = comments;
    this.checkedAt[row] = Math.max(checkedAt, this.checkedAt[row]!);
    this.checking[row] = 0;
  }

  setDeficit(row: number, deficit: number): void {
    if (deficit === this.deficit[row]) return;
    this.deficit[row] = deficit;
    this.waiting.delete(row);
    if (deficit > 0) this.waiting.add(row);
  }

  remove(row: number): void {
    this.rows.delete(this.ids[row]!);
    this.ids[row] = '';
    this.createdAt[row] = UNUSED;
    this.setDeficit(row, 0);
    this.free.push(row);
  }
}

/** A community by a number from 1 to 2³²; 0 stands for an unknown one. Two communities may share one. */
export function communityKey(name: string | undefined): number {
  return name === undefined || name === '' ? 0 : Math.floor(samplingHash(0, name.toLowerCase()) * 2 ** 32) || 1;
}

/**
 * How often in a row a reading may be broken off without having found anything. The pauses between them, from half a
 * minute to ten, add up to more than an hour.
 */
export const MAX_FRUITLESS = 12;
/** After this many the pause is the longest. */
export const FRUITLESS_AT_LONGEST = 6;
const SHORTEST_REST_MS = 30_000;
const LONGEST_REST_MS = 600_000;

/** The pause in milliseconds after this many fruitless readings in a row, at least one. */
export function restMs(fruitless: number): number {
  return Math.min(LONGEST_REST_MS, SHORTEST_REST_MS * 2 ** (fruitless - 1));
}

/**
 * Chooses the thread to read among the posts with a deficit: the largest deficit first, among equal ones the latest;
 * every second time one that a gap waits for, so that gaps are closed however many threads wait.
 */
export class ReadingQueue {
  private readonly posts: TrackedPosts;
  /** Rows that gaps wait for, in the order in which they are to be read. */
  private unread: readonly number[] = [];
  private taken = 0;

  constructor(posts: TrackedPosts) {
    this.posts = posts;
  }

  setUnread(rows: readonly number[]): void {
    this.unread = rows;
  }

  take(now: number): number | undefined {
    this.taken += 1;
    const unread = this.taken % 2 === 1 ? this.unread.find((row) => this.isOpen(row, now)) : undefined;
    return unread ?? this.largest(now);
  }

  /** Whether a thread may be read now. */
  hasOpen(now: number): boolean {
    for (const row of this.posts.waiting) if (this.isOpen(row, now)) return true;
    return false;
  }

  /**
   * Takes back a choice that was not read for lack of budget: where every second attempt fails, one kind would never
   * be read otherwise.
   */
  undoTake(): void {
    this.taken -= 1;
  }

  private largest(now: number): number | undefined {
    const { waiting, deficit } = this.posts;
    let largest: number | undefined;
    for (const row of waiting) {
      if ((largest === undefined || deficit[row]! >= deficit[largest]!) && this.isOpen(row, now)) largest = row;
    }
    return largest;
  }

  private isOpen(row: number, now: number): boolean {
    const { waiting, reading, restsUntil } = this.posts;
    return waiting.has(row) && reading[row] === 0 && restsUntil[row]! <= now;
  }
}
