import type { Forum } from './forum.ts';
import { commentIndex, commentName, LISTING_DEPTH, NONE, postId, postOrdinal } from './stores.ts';

const PAGE_SIZE = 100;
const THREAD_SIZE = 500;

/** What a caller asks of the forum. `after` is a fullname. */
export type ForumRequest =
  | { path: '/r/all/comments' | '/r/all/new'; after?: string | undefined }
  | { path: '/r/communities/comments'; communities: readonly number[]; after?: string | undefined }
  | { path: '/api/info'; names: readonly string[] }
  | { path: '/comments'; postId: string };

/** Items by their index in the stores. */
export interface ForumAnswer {
  comments: readonly number[];
  posts: readonly number[];
  /** The cursor of the next page. */
  after: string | undefined;
  /** The comments of a thread that the answer names but does not hold, newest first. */
  more: readonly number[];
}

const EMPTY: ForumAnswer = { comments: [], posts: [], after: undefined, more: [] };

/** The record that the decisions of a source see. Times are milliseconds since 1970. */
export interface ListedItem {
  name: string;
  createdAt: number;
  subreddit: string;
  postId: string;
  /** `num_comments` of the post. */
  commentCount: number;
}

/** Answers requests from a forum at the forum's current time. */
export class ForumReader {
  private readonly forum: Forum;
  private readonly merge: CommunityMerge;
  private readonly communityNames: readonly string[];

  constructor(forum: Forum) {
    this.forum = forum;
    this.merge = new CommunityMerge(forum);
    this.communityNames = Array.from(forum.shares, (_, rank) => `c${rank}`);
  }

  /** @param asOfMs earlier than the current time: an outdated page of comments */
  answer(request: ForumRequest, nowMs: number, asOfMs = nowMs): ForumAnswer {
    const { forum } = this;
    const limit = asOfMs < nowMs ? forum.comments.countAt(asOfMs) : Infinity;
    switch (request.path) {
      case '/r/all/comments':
        return this.commentPage(forum.allComments.page(this.commentAfter(request.after), PAGE_SIZE, limit));
      case '/r/communities/comments': {
        const window = { after: this.commentAfter(request.after), size: PAGE_SIZE, limit };
        return this.commentPage(this.merge.page(request.communities, window));
      }
      case '/r/all/new': {
        const after = request.after === undefined ? NONE : postOrdinal(request.after);
        const page = forum.allPosts.page(after, PAGE_SIZE, Infinity);
        return { ...EMPTY, posts: page.items, after: page.after === NONE ? undefined : `t3_${postId(page.after)}` };
      }
      case '/api/info':
        return this.info(request.names, nowMs);
      case '/comments':
        return this.thread(postOrdinal(request.postId), nowMs);
    }
  }

  comment(index: number): ListedItem {
    const { comments } = this.forum;
    return this.listed(commentName(index), comments.createdAt(index), comments.post[index]!);
  }

  post(ordinal: number): ListedItem {
    return this.listed(`t3_${postId(ordinal)}`, this.forum.posts.createdAt[ordinal]!, ordinal);
  }

  commentName(index: number): string {
    return commentName(index);
  }

  private listed(name: string, createdAt: number, post: number): ListedItem {
    // The forum dates items to the second.
    const seconds = Math.floor((this.forum.options.startsAt + createdAt) / 1000);
    const subreddit = this.communityNames[this.forum.posts.community[post]!]!;
    const commentCount = this.forum.posts.comments[post]!;
    return { name, createdAt: seconds * 1000, subreddit, postId: postId(post), commentCount };
  }

  private commentAfter(after: string | undefined): number {
    return after === undefined ? NONE : (commentIndex(after) ?? Infinity);
  }

  private commentPage({ items, after }: { items: number[]; after: number }): ForumAnswer {
    const cursor = after === NONE ? undefined : commentName(after);
    return { ...EMPTY, comments: items, after: cursor };
  }

  private info(names: readonly string[], nowMs: number): ForumAnswer {
    const posts: number[] = [];
    const comments: number[] = [];
    for (const name of names.slice(0, PAGE_SIZE)) {
      if (name.startsWith('t3_')) {
        const ordinal = postOrdinal(name);
        if (this.forum.isPostVisible(ordinal, nowMs)) posts.push(ordinal);
      } else {
        const index = commentIndex(name);
        if (index !== undefined && index >= 0 && index < this.forum.comments.count) comments.push(index);
      }
    }
    return { ...EMPTY, posts, comments };
  }

  private thread(post: number, nowMs: number): ForumAnswer {
    const { comments, posts } = this.forum;
    if (!this.forum.isPostVisible(post, nowMs)) return EMPTY;
    const shown: number[] = [];
    const more: number[] = [];
    for (let item = posts.newestComment[post]!; item !== NONE; item = comments.olderInThread[item]!) {
      (shown.length < THREAD_SIZE ? shown : more).push(item);
    }
    return { ...EMPTY, posts: [post], comments: shown, more };
  }
}

/**
 * Merges the listings of several communities, newest first, with a binary heap of their next comments: a page of a
 * hundred communities costs some microseconds.
 */
export class CommunityMerge {
  private readonly forum: Forum;
  /** The next comment of each community, as a heap with the newest first. */
  private heap: number[] = [];

  constructor(forum: Forum) {
    this.forum = forum;
  }

  /** A page of at most `size` comments below `after`; see ListingWindow.page. */
  page(
    communities: readonly number[],
    { after, size, limit }: { after: number; size: number; limit: number },
  ): { items: number[]; after: number } {
    this.fill(communities, limit);
    const items: number[] = [];
    let isBelow = after === NONE;
    let depth = 0;
    for (; depth < LISTING_DEPTH && this.heap.length > 0 && items.length < size; depth++) {
      const item = this.pop(limit);
      if (isBelow) items.push(item);
      else isBelow = item === after;
    }
    const hasMore = this.heap.length > 0 && depth < LISTING_DEPTH;
    return { items, after: hasMore ? (items.at(-1) ?? NONE) : NONE };
  }

  private fill(communities: readonly number[], limit: number): void {
    this.heap = [];
    for (const community of communities) {
      const item = this.visible(this.forum.newestInCommunity[community] ?? NONE, limit);
      if (item === NONE) continue;
      this.heap.push(item);
    }
    for (let parent = (this.heap.length >> 1) - 1; parent >= 0; parent--) this.sink(parent);
  }

  /** Takes the newest and puts the next older one of the same community in its place. */
  private pop(limit: number): number {
    const newest = this.heap[0]!;
    const older = this.visible(this.forum.comments.olderInCommunity[newest]!, limit);
    const last = older === NONE ? this.heap.pop()! : older;
    if (this.heap.length > 0) {
      this.heap[0] = last;
      this.sink(0);
    }
    return newest;
  }

  /** The first comment from `item` on that has a number below `limit`. */
  private visible(item: number, limit: number): number {
    let found = item;
    while (found >= limit) found = this.forum.comments.olderInCommunity[found]!;
    return found;
  }

  private sink(from: number): void {
    const { heap } = this;
    const item = heap[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]! > heap[child]!) child += 1;
      if (heap[child]! <= item) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = item;
  }
}
