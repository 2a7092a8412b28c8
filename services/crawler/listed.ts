import type { Thing } from '../../shared/upstream/parsing/thing-schema.ts';
import { fullnameOf } from '../../shared/upstream/parsing/thing-schema.ts';

/** What the decisions of a source need to know of a thing. */
export interface Listed {
  /** Fullname. */
  name: string;
  /** Milliseconds since 1970, as the forum dates it, but never in the future. */
  createdAt: number;
  /** Empty for an advertisement. */
  subreddit: string;
  /** Bare id of the post, or of the post that the comment is on. */
  postId: string;
}

/** `seenAt` in milliseconds since 1970: a date in the future would move the bounds of a gap. */
export function listedOf(thing: Thing, seenAt: number): Listed {
  const { data } = thing;
  return {
    name: fullnameOf(thing),
    createdAt: Math.min(data.created_utc * 1000, seenAt),
    subreddit: data.subreddit ?? '',
    postId: thing.kind === 't1' ? thing.data.post_id : data.id,
  };
}
