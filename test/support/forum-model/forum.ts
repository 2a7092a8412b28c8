import { rateAt } from './forum-options.ts';
import type { ForumOptions } from './forum-options.ts';
import { AliasTable, Random } from './random.ts';
import { CommentStore, IN_ALL, IN_COMMUNITY, ListingWindow, NONE, PostStore } from './stores.ts';

/** The rate is computed this often. */
const RATE_STEP_MS = 1_000;
/** Communities of these ranks are never outside /r/all: each holds too much of the whole. */
const LARGEST = 50;

/**
 * The items of a forum, made as virtual time passes. The same options give the same items. Times are milliseconds since
 * the start of the model.
 */
export class Forum {
  readonly options: ForumOptions;
  readonly comments = new CommentStore();
  readonly posts = new PostStore();
  /** The newest comment in each community's listing. */
  readonly newestInCommunity: Int32Array;
  readonly allComments = new ListingWindow();
  readonly allPosts = new ListingWindow();
  /** Each community's share of all items. */
  readonly shares: Float64Array;
  /** The posts with smaller ordinals were made before the start. */
  readonly firstPost: number;

  private readonly random: Random;
  private readonly communities: AliasTable;
  private readonly picker: ThreadPicker;
  private readonly isOutsideAll: Uint8Array;
  private readonly late = new LateItems();
  private nextItemAt = 0;
  private rate = 1;
  private rateUntil = -Infinity;
  private second = -1;
  private commentsOfSecond = 0;

  constructor(options: ForumOptions) {
    this.options = options;
    this.random = new Random(options.seed);
    this.shares = zipfShares(options);
    this.communities = new AliasTable(this.shares);
    this.isOutsideAll = this.chooseOutside();
    this.newestInCommunity = new Int32Array(options.communities).fill(NONE);
    const hourly = rateAt(options.traffic, 0) * 3600;
    this.picker = new ThreadPicker(
      this.shares.map((share) => share * hourly),
      this.random,
    );
    this.makeHistory(hourly * options.historyHours * (1 - options.comments));
    this.firstPost = this.posts.count;
  }

  /** Makes all items up to a time. */
  advance(toMs: number): void {
    while (this.nextItemAt <= toMs) {
      const at = this.nextItemAt;
      this.late.releaseUntil(at);
      if (this.random.next() < this.options.comments) this.makeComment(at);
      else this.makePost(this.communities.draw(this.random), at);
      if (at >= this.rateUntil) {
        this.rate = rateAt(this.options.traffic, at);
        this.rateUntil = at + RATE_STEP_MS;
      }
      this.nextItemAt = at + (this.random.exponential() * 1000) / this.rate;
    }
    this.late.releaseUntil(toMs);
  }

  isPostVisible(ordinal: number, nowMs: number): boolean {
    return ordinal >= 0 && ordinal < this.posts.count && this.posts.shownAt[ordinal]! <= nowMs;
  }

  private makePost(community: number, at: number): void {
    const { holes } = this.options;
    const shownAt = this.random.next() < holes ? Infinity : this.shownAt(at);
    const post = this.posts.add(community, { createdAt: at, shownAt });
    if (shownAt === at) this.showPost(post);
    else if (shownAt !== Infinity) this.late.add(shownAt, () => this.showPost(post));
  }

  private showPost(post: number): void {
    const community = this.posts.community[post]!;
    this.picker.addPost(community, post);
    if (this.isOutsideAll[community]) return;
    this.allPosts.add(post);
  }

  private makeComment(at: number): void {
    const { random, options } = this;
    const community = this.communities.draw(random);
    const post = this.picker.pick(community);
    const chance = random.next();
    if (chance < options.inNothing) {
      this.posts.comments[post]! += 1;
      return;
    }
    const isInThreadOnly = chance < options.inNothing + options.inThreadOnly;
    const visibleIn = isInThreadOnly ? 0 : IN_COMMUNITY + (this.isInAll(community, at) ? IN_ALL : 0);
    const shownAt = this.shownAt(at);
    if (shownAt === at) this.showComment(post, visibleIn, { createdAt: at, shownAt });
    else this.late.add(shownAt, () => this.showComment(post, visibleIn, { createdAt: at, shownAt }));
  }

  private showComment(post: number, visibleIn: number, times: { createdAt: number; shownAt: number }): void {
    const { comments, posts } = this;
    // Comments are stored in the order of `shownAt`; a late one may be released a moment after its time.
    const previous = comments.count === 0 ? 0 : comments.shownAt[comments.count - 1]!;
    const item = comments.add(post, visibleIn, { ...times, shownAt: Math.max(times.shownAt, previous) });
    posts.comments[post]! += 1;
    posts.shownComments[post]! += 1;
    comments.olderInThread[item] = posts.newestComment[post]!;
    posts.newestComment[post] = item;
    const community = posts.community[post]!;
    this.picker.addComment(community, post);
    if (visibleIn & IN_COMMUNITY) {
      comments.olderInCommunity[item] = this.newestInCommunity[community]!;
      this.newestInCommunity[community] = item;
    }
    if (visibleIn & IN_ALL) this.allComments.add(item);
  }

  /** Whether /r/all/comments shows the next comment of a community: it drops some of a busy second. */
  private isInAll(community: number, at: number): boolean {
    const second = Math.floor(at / 1000);
    if (second !== this.second) {
      this.second = second;
      this.commentsOfSecond = 0;
    }
    this.commentsOfSecond += 1;
    if (this.isOutsideAll[community]) return false;
    return this.commentsOfSecond <= this.options.keptPerSecond || this.random.next() >= this.options.dropped;
  }

  private shownAt(at: number): number {
    const { late, latenessMs } = this.options;
    return this.random.next() < late ? at + this.random.next() * latenessMs : at;
  }

  /** Chooses communities at random until they have their share. */
  private chooseOutside(): Uint8Array {
    const isOutside = new Uint8Array(this.shares.length);
    let left = this.options.outsideAll;
    for (let tries = 0; left > 0 && tries < this.shares.length; tries++) {
      const community = this.random.below(this.shares.length);
      const share = this.shares[community]!;
      if (isOutside[community] || share > left || community < LARGEST) continue;
      isOutside[community] = 1;
      left -= share;
    }
    return isOutside;
  }

  /** Makes posts of the hours before the start, at least one in each community, so that every comment has a thread. */
  private makeHistory(count: number): void {
    const { random, options } = this;
    const times = Float64Array.from({ length: count }, () => -random.next() * options.historyHours * 3_600_000).sort();
    for (const community of this.shares.keys()) {
      const at = -(1 + random.next()) * options.historyHours * 3_600_000;
      this.showPost(this.posts.add(community, { createdAt: at, shownAt: at }));
    }
    for (const at of times) this.makePost(this.communities.draw(random), at);
    this.late.releaseUntil(0);
  }
}

function zipfShares({ communities, exponent }: ForumOptions): Float64Array {
  const weights = Float64Array.from({ length: communities }, (_, rank) => (rank + 1) ** -exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** A community remembers the entries of this many hours at its average rate. */
const WINDOW_HOURS = 6;
const MIN_ENTRIES = 8;
/** The exponent of the Pareto distribution of a post's attraction, and its bound. */
const ATTRACTION_EXPONENT = 1.15;
const MAX_ATTRACTION = 3_000;

/**
 * Chooses the thread of a new comment. Each community has a ring buffer of recent entries: a post enters as many times
 * as it attracts, a comment enters once with its post, and a new comment takes the post of a random entry. So busy
 * threads grow (Yule's and Simon's process), sizes are heavy-tailed, and a thread ends when newer entries displace its
 * own.
 */
export class ThreadPicker {
  private readonly random: Random;
  private readonly entries: Int32Array;
  private readonly first: Uint32Array;
  private readonly capacity: Uint32Array;
  private readonly written: Uint32Array;

  /** @param itemsPerHour of each community */
  constructor(itemsPerHour: ArrayLike<number>, random: Random) {
    this.random = random;
    this.capacity = Uint32Array.from(itemsPerHour, (rate) => Math.max(MIN_ENTRIES, rate * WINDOW_HOURS * 1.5));
    this.first = new Uint32Array(itemsPerHour.length);
    this.written = new Uint32Array(itemsPerHour.length);
    let total = 0;
    for (const [community, capacity] of this.capacity.entries()) {
      this.first[community] = total;
      total += capacity;
    }
    this.entries = new Int32Array(total);
  }

  /** The post of a random entry. The community must have a post. */
  pick(community: number): number {
    const size = Math.min(this.written[community]!, this.capacity[community]!);
    return this.entries[this.first[community]! + this.random.below(size)]!;
  }

  addPost(community: number, post: number): void {
    const pareto = (1 - this.random.next()) ** (-1 / ATTRACTION_EXPONENT);
    const limit = Math.min(MAX_ATTRACTION, this.capacity[community]! / 3);
    for (let entries = 0; entries === 0 || entries + 1 <= Math.min(pareto, limit); entries++) this.add(community, post);
  }

  addComment(community: number, post: number): void {
    this.add(community, post);
  }

  private add(community: number, post: number): void {
    const at = this.written[community]!++ % this.capacity[community]!;
    this.entries[this.first[community]! + at] = post;
  }
}

/** Runs releases in the order of their times, to the second. */
export class LateItems {
  private readonly seconds = new Map<number, (() => void)[]>();
  private nextSecond = 0;

  add(atMs: number, release: () => void): void {
    const second = Math.max(this.nextSecond, Math.ceil(atMs / 1000));
    const waiting = this.seconds.get(second);
    if (waiting) waiting.push(release);
    else this.seconds.set(second, [release]);
  }

  /** Runs all that are due. */
  releaseUntil(atMs: number): void {
    for (; this.nextSecond * 1000 <= atMs; this.nextSecond += 1) {
      for (const release of this.seconds.get(this.nextSecond) ?? []) release();
      this.seconds.delete(this.nextSecond);
    }
  }
}
