/** Smaller answers say nothing about the forum as a whole. */
const LEAST_POSTS = 10;
/** A post that is still left out after this time is gone. */
const CONFIRM_AFTER_MS = 600_000;
/** No post is followed longer. */
const FORGOTTEN_AFTER_MS = 3 * 24 * 3_600_000;
const MOST_REMEMBERED = 250_000;

/**
 * The forum leaves posts that are gone out of its answers. A wrong answer must not make live posts count as checked.
 * So an answer that leaves out more than half of the posts asked for is not believed. Posts that were left out ten
 * minutes before as well do not count among these. Times are milliseconds since 1970.
 */
export class AbsenceDoubt {
  /** Since when each post has been left out; those that were left out first come first. */
  private readonly leftOutSince = new Map<string, number>();

  /**
   * The posts that an answer to a call for `asked` leaves out and that do not count as gone; `isShown` says which posts
   * it shows.
   */
  doubted(asked: readonly string[], isShown: (postId: string) => boolean, now: number): readonly string[] {
    const doubtful = asked.filter((postId) => {
      if (isShown(postId)) {
        this.leftOutSince.delete(postId);
        return false;
      }
      // The clock may have been set back.
      const since = Math.min(now, this.leftOutSince.get(postId) ?? now);
      this.leftOutSince.set(postId, since);
      return now - since < CONFIRM_AFTER_MS;
    });
    for (const [postId, since] of this.leftOutSince) {
      if (this.leftOutSince.size <= MOST_REMEMBERED && now - since < FORGOTTEN_AFTER_MS) break;
      this.leftOutSince.delete(postId);
    }
    return asked.length < LEAST_POSTS || doubtful.length * 2 <= asked.length ? [] : doubtful;
  }
}
