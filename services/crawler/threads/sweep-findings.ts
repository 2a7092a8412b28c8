/** What the forum and the archive say about a post. */
export interface CheckedPost {
  postId: string;
  /** num_comments; undefined when the forum did not return the post. */
  comments: number | undefined;
  /** Archived comments that were created until the check; undefined: as many as `archivedOf` said. */
  archived: number | undefined;
}

/** Why a thread was not read: the forum does not have it any more, our own budget refused the call, or it failed. */
export type ReadingFailure = 'gone' | 'own_budget' | 'failed';

/** Comments of a post that other sources saw. */
export interface CommentActivity {
  postId: string;
  comments: number;
  oldestAt: number;
  subreddit?: string | undefined;
  /** It was before the start: posts that are not followed are passed over. */
  isPast?: boolean;
}

/** What a reading of a thread showed. */
export interface ReadThread {
  readAt: number;
  /** num_comments in the thread's answer. */
  comments: number;
  /** Comments that are archived or were found now. */
  known: number;
  /** Of these, those that were not archived before. */
  found: number;
  /** Comments that the thread names, but that could not be read in this reading. */
  unread: number;
  /** The reading failed after its first call, so it says nothing about what is unread. */
  isBrokenOff?: boolean;
}
