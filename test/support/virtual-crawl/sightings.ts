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
      added += 1;
    }
    if (added > 0) this.bySource.set(source, (this.bySource.get(source) ?? 0) + added);
    return added;
  }

  addPosts(ordinals: readonly number[], at: number): void {
    this.posts = grown(this.posts, this.forum.posts.count);
    for (const ordinal of ordinals) if (!this.posts[ordinal]) this.posts[ordinal] = at;
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
