import type { Forum } from '../forum-model/forum.ts';

/** When the crawlers first published each item, by its index in the stores of the forum. Milliseconds since 1970. */
export class Sightings {
  private readonly forum: Forum;
  private comments = new Float64Array(1024);
  private posts = new Float64Array(1024);
  /** How many comments of each post were seen. */
  private ofPost = new Int32Array(1024);
  /** Comments first seen by each source. */
  readonly bySource = new Map<string, number>();
  private fresh: { comments: number[]; posts: number[] } = { comments: [], posts: [] };

  constructor(forum: Forum) {
    this.forum = forum;
  }

  /** Notes comments; returns how many were new. */
  addComments(indexes: readonly number[], at: number, source: string): number {
    this.comments = grown(this.comments, this.forum.comments.count);
    this.ofPost = grown(this.ofPost, this.forum.posts.count);
    let added = 0;
    for (const index of indexes) {
      if (this.comments[index]) continue;
      this.comments[index] = at;
      this.ofPost[this.forum.comments.post[index]!]! += 1;
      this.fresh.comments.push(index);
      added += 1;
    }
    if (added > 0) this.bySource.set(source, (this.bySource.get(source) ?? 0) + added);
    return added;
  }

  addPosts(ordinals: readonly number[], at: number): void {
    this.posts = grown(this.posts, this.forum.posts.count);
    for (const ordinal of ordinals) {
      if (this.posts[ordinal]) continue;
      this.posts[ordinal] = at;
      this.fresh.posts.push(ordinal);
    }
  }

  /** What was first seen since the last call, as the archive tells it. */
  takeFresh(): { comments: readonly number[]; posts: readonly number[] } {
    const { fresh } = this;
    this.fresh = { comments: [], posts: [] };
    return fresh;
  }

  /** The archived comments of a post that were created until a time, counted from the start of the model. */
  archivedOf(ordinal: number, untilMs: number): number {
    const { comments, posts } = this.forum;
    let count = this.seenOfPost(ordinal);
    for (let item = posts.newestComment[ordinal]!; item >= 0; item = comments.olderInThread[item]!) {
      if (comments.shownAt[item]! <= untilMs) break;
      if (this.comments[item] && comments.createdAt(item) > untilMs) count -= 1;
    }
    return count;
  }

  /** When a comment was first seen; 0: never. */
  commentSeenAt(index: number): number {
    return this.comments[index] ?? 0;
  }

  postSeenAt(ordinal: number): number {
    return this.posts[ordinal] ?? 0;
  }

  seenOfPost(ordinal: number): number {
    return this.ofPost[ordinal] ?? 0;
  }
}

function grown<Column extends Float64Array | Int32Array>(column: Column, size: number): Column {
  if (size <= column.length) return column;
  const larger = column instanceof Float64Array ? new Float64Array(2 * size) : new Int32Array(2 * size);
  larger.set(column);
  return larger as Column;
}
