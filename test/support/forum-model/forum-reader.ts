import { CommunityMerge } from './community-merge.ts';
import type { Forum } from './forum.ts';
import { commentIndex, commentName, postId, postOrdinal } from './names.ts';
import { NONE } from './stores.ts';

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
