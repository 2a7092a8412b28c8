import type { Community, CommunityDirectory } from './community-directory.ts';
import { authorOf } from './authors.ts';
import { BoundedCache } from './threads.ts';
import { SeededRandom, PURPOSE } from './seeded-random.ts';
import { slotOfPost } from '../timeline/timeline.ts';
import { commentText, postText, postTitle } from './prose.ts';
import { slugOf } from './render.ts';
import type { Threads } from './threads.ts';
import type { Shown, Timeline } from '../timeline/timeline.ts';

const POSTS_KEPT = 4096;
const COMMENTS_KEPT = 8192;
const MINUTE = 60_000;

type PostForm = 'self' | 'link' | 'image' | 'gallery' | 'video' | 'poll' | 'crosspost';

/** How an item changes as it ages. Ages are in milliseconds; Infinity means never. */
export interface Lifecycle {
  removedAtOnce: boolean;
  removedAfter: number;
  deletedAfter: number;
  editedAfter: number;
  finalScore: number;
}

export interface Post {
  k: number;
  number: number;
  community: Community;
  author: string;
  title: string;
  /** The last part of the permalink, made from the title. */
  slug: string;
  selftext: string;
  form: PostForm;
  /** Crossposts: the number of the post that is shared. */
  original: number | undefined;
  over18: boolean;
  spoiler: boolean;
  lifecycle: Lifecycle;
}

export interface Comment {
  k: number;
  post: Post;
  author: string;
  body: string;
  lifecycle: Lifecycle;
}

const UNCHANGING: Lifecycle = {
  removedAtOnce: false,
  removedAfter: Infinity,
  deletedAfter: Infinity,
  editedAfter: Infinity,
  finalScore: 12,
};

/** Within its first twenty minutes only the score of a visible item changes. `maxScore` limits that score. */
function lifecycleOf(seed: number, k: number, maxScore: number): Lifecycle {
  const random = new SeededRandom(seed, k, PURPOSE.lifecycle);
  const end = random.next();
  const after = (20 + random.next() * 100) * MINUTE;
  const score = Math.min(maxScore, Math.floor(1 / (1 - random.next() * 0.99999) ** 1.1));
  return {
    removedAtOnce: end < 0.004,
    removedAfter: end >= 0.004 && end < 0.016 ? after : Infinity,
    deletedAfter: end >= 0.016 && end < 0.036 ? after : Infinity,
    editedAfter: random.chance(0.03) ? 15 * MINUTE + after / 2 : Infinity,
    finalScore: random.chance(0.06) ? -Math.min(40, score) : score,
  };
}

function formOf(roll: number): PostForm {
  if (roll < 0.62) return 'self';
  if (roll < 0.78) return 'link';
  if (roll < 0.87) return 'image';
  if (roll < 0.91) return 'gallery';
  if (roll < 0.945) return 'video';
  return roll < 0.97 ? 'poll' : 'crosspost';
}

/** Depends only on (seed, k), except for relations between items: these need the timeline. */
export class Catalog {
  private readonly timeline: Timeline;
  private readonly threads: Threads;
  private readonly communities: CommunityDirectory;
  /** Ids of the communities that /r/all leaves out, by their share of all items (`Omissions`). */
  private readonly optedOut = new Map<number, ReadonlySet<string>>();
  private readonly posts = new BoundedCache<Post>(POSTS_KEPT);
  private readonly comments = new BoundedCache<Comment>(COMMENTS_KEPT);

  constructor(timeline: Timeline, threads: Threads, communities: CommunityDirectory) {
    this.timeline = timeline;
    this.threads = threads;
    this.communities = communities;
  }

  postNumbered(number: number): Post {
    const known = this.posts.get(number);
    if (known) return known;
    const post = this.makePost(number);
    // Do not cache a post that is not emitted yet: an injected item may still take its slot.
    if (this.timeline.exists(post.k)) this.posts.set(number, post);
    return post;
  }

  private makePost(number: number): Post {
    const { seed } = this.timeline;
    const k = slotOfPost(seed, number);
    const injected = this.timeline.injected.get(k);
    if (injected) {
      const community = this.communities.named(injected.subreddit)!;
      const { author, title, text: selftext, over_18: over18 } = injected;
      const written = { k, number, community, author, title, slug: slugOf(title), selftext, over18 };
      return { ...written, form: 'self', original: undefined, spoiler: false, lifecycle: UNCHANGING };
    }
    const community = this.communities.ofPost(number);
    const random = new SeededRandom(seed, k, PURPOSE.text);
    const shape = new SeededRandom(seed, k, PURPOSE.form);
    const form = number === 0 ? 'self' : formOf(shape.next());
    const original = form === 'crosspost' ? this.originalOf(number, k, shape) : undefined;
    const lifecycle = lifecycleOf(seed, k, 40_000);
    const title = postTitle(community, random);
    const writes = form === 'self' || form === 'poll';
    return {
      k,
      number,
      community,
      author: authorOf(seed, k),
      title,
      slug: slugOf(title),
      selftext: lifecycle.removedAtOnce && writes ? '[removed]' : writes ? postText(community, random) : '',
      form,
      original,
      over18: community.over18 || shape.chance(0.015),
      spoiler: shape.chance(0.02),
      lifecycle,
    };
  }

  /** One of the 32 previous posts, or the nearest one before it that was visible then. */
  private originalOf(number: number, k: number, random: SeededRandom): number {
    const drawn = Math.max(0, number - 1 - random.below(32));
    return this.threads.nearestVisible(drawn, this.timeline.emittedAt(k) ?? Infinity);
  }

  post(k: number): Post {
    return this.postNumbered(this.timeline.item(k).number);
  }

  comment(k: number): Comment {
    const known = this.comments.get(k);
    if (known) return known;
    const comment = this.makeComment(k);
    if (this.timeline.exists(k)) this.comments.set(k, comment);
    return comment;
  }

  private makeComment(k: number): Comment {
    const { seed } = this.timeline;
    const post = this.postNumbered(this.threads.postOf(k));
    const injected = this.timeline.injected.get(k);
    if (injected) return { k, post, author: injected.author, body: injected.text, lifecycle: UNCHANGING };
    const lifecycle = lifecycleOf(seed, k, 4000);
    const body = lifecycle.removedAtOnce
      ? '[removed]'
      : commentText(post.community, new SeededRandom(seed, k, PURPOSE.text));
    return { k, post, author: this.commentAuthor(k, post), body, lifecycle };
  }

  private commentAuthor(k: number, post: Post): string {
    const random = new SeededRandom(this.timeline.seed, k, PURPOSE.user);
    return random.chance(0.08) ? post.author : authorOf(this.timeline.seed, k);
  }

  attributes(k: number): { community: string; author: string } {
    if (this.timeline.item(k).kind === 'post') {
      const post = this.post(k);
      return { community: post.community.name.toLowerCase(), author: post.author.toLowerCase() };
    }
    const injected = this.timeline.injected.get(k);
    const post = this.postNumbered(this.threads.postOf(k));
    const author = injected?.author ?? this.commentAuthor(k, post);
    return { community: post.community.name.toLowerCase(), author: author.toLowerCase() };
  }

  shownOf(k: number): Shown {
    const shown = this.timeline.shownInAll(k);
    const share = this.timeline.omissionsOf(k)?.outside_all ?? 0;
    return shown === 'all' && share > 0 && this.isOutsideAll(k, share) ? 'community' : shown;
  }

  private isOutsideAll(k: number, share: number): boolean {
    let optedOut = this.optedOut.get(share);
    if (!optedOut) this.optedOut.set(share, (optedOut = this.communities.optedOut(share)));
    const item = this.timeline.item(k);
    const post = item.kind === 'post' ? item.number : this.threads.postOf(k);
    return optedOut.has(this.postNumbered(post).community.id);
  }
}
