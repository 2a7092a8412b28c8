import type { TrackedPosts } from './tracked-posts.ts';

/**
 * An answer of the archive counts for so long. Of a comment that reaches the archive minutes after it was seen, nobody
 * tells.
 */
const KNOWN_MS = 15 * 60_000;
const UNKNOWN = Number.NEGATIVE_INFINITY;

/**
 * Knows of which posts the archive holds what it held at their last check, so that it is asked only about the others:
 * most checks find neither a new comment of the forum nor one of the archive.
 */
export class ArchiveKnowledge {
  private readonly posts: TrackedPosts;
  private distrustedUntil = Number.NEGATIVE_INFINITY;

  constructor(posts: TrackedPosts) {
    this.posts = posts;
  }

  /** The archive did not answer: it is behind, and what it gets late is not noticed. */
  noteOutage(now: number): void {
    this.distrustedUntil = now + KNOWN_MS;
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
   * The archived comments of a post that has `comments` at a check; undefined: the archive must be asked. Of a post
   * that has none, none counts as archived.
   */
  archivedOf(slot: number, comments: number, checkedAt: number): number | undefined {
    if (comments === 0) return 0;
    const { askedAt, counted, difference, deficit } = this.posts;
    const isTrusted = checkedAt > this.distrustedUntil && checkedAt - askedAt[slot]! < KNOWN_MS;
    const isKnown = isTrusted && comments === counted[slot] && deficit[slot] === 0;
    return isKnown ? counted[slot]! - difference[slot]! : undefined;
  }

  /** `counted` and `difference` of the post are those of this check, for which the archive was asked. */
  noteAnswer(slot: number, checkedAt: number): void {
    this.posts.askedAt[slot] = checkedAt;
  }

  /** `counted` and `difference` of the post are not those of one check. */
  forget(slot: number): void {
    this.posts.askedAt[slot] = UNKNOWN;
  }
}
