/** What a monitor watches for, as its owner wrote it. */
export interface Rule {
  /** Any one of them makes an item match. */
  keywords: readonly string[];
  /** Any one of them drops the item, whatever keywords it holds. */
  exclude: readonly string[];
  /** Community names, with or without `r/`, in any case. Empty: all communities. */
  subreddits: readonly string[];
  posts: boolean;
  comments: boolean;
  /** Whether items marked NSFW may match. */
  nsfw: boolean;
}

/** The part of a post or comment that decides. */
export interface MatchItem {
  kind: 'post' | 'comment';
  /** Matched for posts only; a comment carries its post's title for display. */
  title: string;
  text: string;
  subreddit: string;
  nsfw: boolean;
}

/** Where a term occurs first: UTF-16 code units [start, end) of the item's title or text as it was written. */
export interface MatchPosition {
  field: 'title' | 'text';
  start: number;
  end: number;
}
