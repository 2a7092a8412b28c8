import { samplingHash } from '../audit/thread-audit.ts';

const FIRST_ROOM = 1_024;
/** Instead of the creation time of a post. */
const UNUSED = Number.NEGATIVE_INFINITY;

export interface NewPost {
  postId: string;
  createdAt: number;
  /** Comments that are known to be archived; default: none. */
  comments?: number;
  /** Its community, if known. */
  subreddit?: string | undefined;
  /** The post is older than what the archive holds of it: only comments from now on are looked for. */
  isOld?: boolean;
}

/**
 * The posts of the sweep in columns, about 100 bytes each with the name: half a million fit into 50 MB. A post has a
 * slot until it is removed; the slot is then used again.
 */
export class TrackedPosts {
  readonly capacity: number;
  readonly ids: string[] = [];
  createdAt = new Float64Array(FIRST_ROOM);
  /** Its community as `communityKey`. */
  community = new Uint32Array(FIRST_ROOM);
  /** When num_comments was asked last, as far as the answer was evaluated; before that, the creation. */
  checkedAt = new Float64Array(FIRST_ROOM);
  /** When nothing was missing that its thread shows: at a complete reading, or a check that found no deficit. */
  completeAt = new Float64Array(FIRST_ROOM);
  /** Comments that are known: num_comments, and those that other sources saw since; of an old post only the latter. */
  comments = new Uint32Array(FIRST_ROOM);
  /** num_comments at the last check. */
  counted = new Uint32Array(FIRST_ROOM);
  /** num_comments less the archived comments: what a complete reading could not find, and the last value. */
  residual = new Int32Array(FIRST_ROOM);
  difference = new Int32Array(FIRST_ROOM);
  /** Comments to be found by reading the thread; set by `setDeficit`. */
  deficit = new Uint32Array(FIRST_ROOM);
  /** 0, or for a post that is older than what the archive holds of it: 2 until its first check, then 1. */
  isOld = new Uint8Array(FIRST_ROOM);
  /** 1 while a check or a reading is under way. */
  checking = new Uint8Array(FIRST_ROOM);
  reading = new Uint8Array(FIRST_ROOM);
  /** Readings in a row that failed, or were broken off without having found anything. */
  fruitless = new Uint8Array(FIRST_ROOM);
  /** Its thread is not read before this time. */
  restsUntil = new Float64Array(FIRST_ROOM);
  /** ArchiveKnowledge: the last check for which the archive was asked, and whether it has got comments since one. */
  askedAt = new Float64Array(FIRST_ROOM);
  hasGrown = new Uint8Array(FIRST_ROOM);
  /** Slots with a deficit, the latest ones last. */
  readonly waiting = new Set<number>();
  private readonly slots = new Map<string, number>();
  private readonly free: number[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.slots.size;
  }

  /** Slots from 0 to this one, not included, may be in use. */
  get end(): number {
    return this.ids.length;
  }

  isUsed(slot: number): boolean {
    return this.createdAt[slot] !== UNUSED;
  }

  slotOf(postId: string): number | undefined {
    return this.slots.get(postId);
  }

  /** The post must be unknown. */
  add({ postId, createdAt, comments = 0, subreddit, isOld = false }: NewPost): number {
    const slot = this.free.pop() ?? this.ids.length;
    if (slot >= this.createdAt.length) this.grow();
    this.ids[slot] = postId;
    this.slots.set(postId, slot);
    this.createdAt[slot] = createdAt;
    this.community[slot] = communityKey(subreddit);
    this.checkedAt[slot] = createdAt;
    this.completeAt[slot] = 0;
    this.comments[slot] = comments;
    this.counted[slot] = 0;
    this.residual[slot] = 0;
    this.difference[slot] = 0;
    this.deficit[slot] = 0;
    this.isOld[slot] = isOld ? 2 : 0;
    this.checking[slot] = 0;
    this.reading[slot] = 0;
    this.fruitless[slot] = 0;
    this.restsUntil[slot] = 0;
    this.askedAt[slot] = 0;
    this.hasGrown[slot] = 1;
    return slot;
  }

  /**
   * Corrects a post that counted as old because the archive had a comment of it before the post itself: all of its
   * comments are looked for, from the next check on.
   */
  markNew(slot: number, { createdAt, isOld = false }: NewPost): void {
    if (isOld || this.isOld[slot] === 0) return;
    this.isOld[slot] = 0;
    this.createdAt[slot] = createdAt;
    this.checkedAt[slot] = createdAt;
    this.completeAt[slot] = 0;
    this.residual[slot] = 0;
    this.hasGrown[slot] = 1;
  }

  /** Notes a check. `comments`: num_comments; undefined when the forum did not return the post. */
  noteCheck(slot: number, checkedAt: number, comments = this.counted[slot]!): void {
    this.counted[slot] = comments;
    if (this.isOld[slot] === 0) this.comments[slot] = comments;
    this.checkedAt[slot] = Math.max(checkedAt, this.checkedAt[slot]!);
    this.checking[slot] = 0;
  }

  setDeficit(slot: number, deficit: number): void {
    if (deficit === this.deficit[slot]) return;
    this.deficit[slot] = deficit;
    this.waiting.delete(slot);
    if (deficit > 0) this.waiting.add(slot);
  }

  remove(slot: number): void {
    this.slots.delete(this.ids[slot]!);
    this.ids[slot] = '';
    this.createdAt[slot] = UNUSED;
    this.setDeficit(slot, 0);
    this.free.push(slot);
  }

  private grow(): void {
    const room = Math.min(Math.max(this.capacity, FIRST_ROOM), this.createdAt.length * 2);
    const copy = <T extends Float64Array | Int32Array | Uint32Array | Uint8Array>(column: T): T => {
      const larger = new (column.constructor as new (length: number) => T)(room);
      larger.set(column);
      return larger;
    };
    this.createdAt = copy(this.createdAt);
    this.community = copy(this.community);
    this.checkedAt = copy(this.checkedAt);
    this.completeAt = copy(this.completeAt);
    this.comments = copy(this.comments);
    this.counted = copy(this.counted);
    this.residual = copy(this.residual);
    this.difference = copy(this.difference);
    this.deficit = copy(this.deficit);
    this.isOld = copy(this.isOld);
    this.checking = copy(this.checking);
    this.reading = copy(this.reading);
    this.fruitless = copy(this.fruitless);
    this.restsUntil = copy(this.restsUntil);
    this.askedAt = copy(this.askedAt);
    this.hasGrown = copy(this.hasGrown);
  }
}

/** A community by a number from 1 to 2³²; 0 stands for an unknown one. Two communities may share one. */
export function communityKey(name: string | undefined): number {
  return name === undefined || name === '' ? 0 : Math.floor(samplingHash(0, name.toLowerCase()) * 2 ** 32) || 1;
}
