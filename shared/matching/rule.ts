/** What a monitor watches for, as its owner wrote it. */
export interface Rule {
  /** An item matches if it has at least one of them. */
  keywords: readonly string[];
  /** An item with any of them does not match, whatever keywords it has. */
  exclude: readonly string[];
  /** Community names, with or without `r/`, in any case. Empty means all communities. */
  subreddits: readonly string[];
  posts: boolean;
  comments: boolean;
  /** Whether items marked NSFW may match. */
  nsfw: boolean;
}

/** The properties of a post or comment that decide whether it matches. */
export interface MatchItem {
  kind: 'post' | 'comment';
  /** Searched only for posts. A comment has its post's title for display. */
  title: string;
  text: string;
  subreddit: string;
  nsfw: boolean;
}

/** The first occurrence of a term: UTF-16 code units [start, end) of the item's original title or text. */
export interface MatchPosition {
  field: 'title' | 'text';
  start: number;
  end: number;
}
