/** No comment: the end of a linked list. */
export const NONE = -1;

/** Where a comment is shown besides its thread. */
export const IN_ALL = 1;
export const IN_COMMUNITY = 2;

/**
 * The visible comments in columns, in the order in which they became visible. Times are milliseconds since the start of
 * the model.
 */
export class CommentStore {
  count = 0;
  shownAt = new Float64Array(1024);
  post = new Int32Array(1024);
  /** IN_ALL and IN_COMMUNITY. */
  places = new Uint8Array(1024);
  /** The next older comment of the same thread, and of the same community's listing. */
  olderInThread = new Int32Array(1024);
  olderInCommunity = new Int32Array(1024);
  /** Creation times of the comments that were shown late. All others were shown when they were created. */
  private readonly lateCreation = new Map<number, number>();

  add(post: number, places: number, { createdAt, shownAt }: { createdAt: number; shownAt: number }): number {
    const index = this.count++;
    if (index >= this.post.length) this.grow();
    this.shownAt[index] = shownAt;
    this.post[index] = post;
    this.places[index] = places;
    if (createdAt !== shownAt) this.lateCreation.set(index, createdAt);
    return index;
  }

  createdAt(index: number): number {
    return this.lateCreation.get(index) ?? this.shownAt[index]!;
  }

  /** The number of comments that were visible at a time. */
  countAt(atMs: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.shownAt[middle]! <= atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private grow(): void {
    const size = this.post.length * 2;
    this.shownAt = copyTo(new Float64Array(size), this.shownAt);
    this.post = copyTo(new Int32Array(size), this.post);
    this.places = copyTo(new Uint8Array(size), this.places);
    this.olderInThread = copyTo(new Int32Array(size), this.olderInThread);
    this.olderInCommunity = copyTo(new Int32Array(size), this.olderInCommunity);
  }
}

/** Ids of posts in columns: the index is the ordinal of the id. An id may be a hole. */
export class PostStore {
  count = 0;
  createdAt = new Float64Array(1024);
  /** Infinity for a hole, which no one ever sees. */
  shownAt = new Float64Array(1024);
  community = new Int32Array(1024);
  /** `num_comments`: all comments that exist, also those that no request returns. */
  comments = new Int32Array(1024);
  /** The comments that the thread shows. */
  shownComments = new Int32Array(1024);
  newestComment = new Int32Array(1024);

  add(community: number, { createdAt, shownAt }: { createdAt: number; shownAt: number }): number {
    const ordinal = this.count++;
    if (ordinal >= this.community.length) this.grow();
    this.community[ordinal] = community;
    this.createdAt[ordinal] = createdAt;
    this.shownAt[ordinal] = shownAt;
    this.newestComment[ordinal] = NONE;
    return ordinal;
  }

  /** The ordinals of the posts that are visible at a time. */
  *visibleAt(atMs: number): Generator<number> {
    for (let ordinal = 0; ordinal < this.count; ordinal++) if (this.shownAt[ordinal]! <= atMs) yield ordinal;
  }

  private grow(): void {
    const size = this.community.length * 2;
    this.createdAt = copyTo(new Float64Array(size), this.createdAt);
    this.shownAt = copyTo(new Float64Array(size), this.shownAt);
    this.community = copyTo(new Int32Array(size), this.community);
    this.comments = copyTo(new Int32Array(size), this.comments);
    this.shownComments = copyTo(new Int32Array(size), this.shownComments);
    this.newestComment = copyTo(new Int32Array(size), this.newestComment);
  }
}

function copyTo<Column extends { set: (values: Column) => void }>(larger: Column, values: Column): Column {
  larger.set(values);
  return larger;
}
