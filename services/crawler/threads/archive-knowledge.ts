import type { TrackedPosts } from './tracked-posts.ts';

/** Nothing is known of what is archived of the post. */
const UNKNOWN = 255;
/** So many checks in a row may do without a question. The activity that others see may be incomplete. */
const MOST_UNASKED = 10;

/**
 * Knows of which posts the archive holds what it held at their last check, so that it is asked only about the others:
 * most checks find neither a new comment of the forum nor one of the archive.
 */
export class ArchiveKnowledge {
  private readonly posts: TrackedPosts;

  constructor(posts: TrackedPosts) {
    this.posts = posts;
  }

  /** The archive has more comments of the post: a check that begins after this must ask. */
  noteGrowth(slot: number): void {
    this.posts.hasGrown[slot] = 1;
  }

  /** A check begins. What the archive gets from now on counts for the next one. */
  beginCheck(slot: number): void {
    if (this.posts.hasGrown[slot] === 1) this.forget(slot);
    this.posts.hasGrown[slot] = 0;
  }

  /**
   * The archived comments of a post that now has `comments`; undefined: the archive must be asked. None counts as
   * archived of a post that has none.
   */
  archivedOf(slot: number, comments: number): number | undefined {
    if (comments === 0) return 0;
    const { unasked, counted, difference, deficit } = this.posts;
    const isKnown = unasked[slot]! < MOST_UNASKED && comments === counted[slot] && deficit[slot] === 0;
    return isKnown ? counted[slot]! - difference[slot]! : undefined;
  }

  /** `counted` and `difference` of the post are those of a check, with what the archive said or with what was known. */
  noteCheck(slot: number, isAsked: boolean): void {
    this.posts.unasked[slot] = isAsked ? 0 : this.posts.unasked[slot]! + 1;
  }

  /** `counted` and `difference` of the post are not those of one check. */
  forget(slot: number): void {
    this.posts.unasked[slot] = UNKNOWN;
  }
}
