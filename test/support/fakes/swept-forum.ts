import { ThreadSweep } from '../../../services/crawler/threads/thread-sweep.ts';

const SECOND = 1_000;

interface Post {
  createdAt: number;
  /** num_comments of the forum. */
  comments: number;
  archived: number;
  /** When each of its missing comments was written. */
  missingSince: number[];
}

/** A forum and an archive in virtual time: every second the sweep gets `callsPerSecond` calls. */
export class SweptForum {
  readonly posts = new Map<string, Post>();
  readonly sweep = new ThreadSweep();
  /** By post, when it was checked. */
  readonly checks = new Map<string, number[]>();
  readonly readings: { postId: string; at: number; deficit: number }[] = [];
  /** How long missing comments waited for a reading. */
  readonly waits: number[] = [];
  private readonly callsPerSecond: number;
  private credit = 0;
  private pending: { at: number; posts: { postId: string; comments: number; archived: number }[] }[] = [];

  constructor(callsPerSecond: number) {
    this.callsPerSecond = callsPerSecond;
  }

  add(postId: string, createdAt: number, comments = 0): void {
    this.posts.set(postId, { createdAt, comments, archived: comments, missingSince: [] });
    this.sweep.add({ postId, createdAt, comments });
  }

  /** Comments that a listing shows. */
  listed(postId: string, comments: number, at: number): void {
    const post = this.posts.get(postId)!;
    post.comments += comments;
    post.archived += comments;
    this.sweep.noteActivity({ postId, comments, oldestAt: at });
  }

  /** A comment that only its thread shows. */
  missed(postId: string, at: number): void {
    const post = this.posts.get(postId)!;
    post.comments += 1;
    post.missingSince.push(at);
  }

  run(from: number, to: number, each?: (now: number) => void): void {
    for (let now = from; now < to; now += SECOND) {
      each?.(now);
      this.settle(now);
      this.credit = Math.min(20, this.credit + this.callsPerSecond);
      while (this.credit >= 1 && (this.check(now) || this.read(now))) this.credit -= 1;
    }
  }

  private settle(now: number): void {
    const isReady = ({ at }: { at: number }): boolean => now - at >= this.sweep.settleMs;
    for (const { at, posts } of this.pending.filter(isReady)) {
      const compared = posts.map((post) => ({ ...post, archived: this.answerOf(post, at) }));
      this.sweep.learnChecks(at, compared);
    }
    this.pending = this.pending.filter((batch) => !isReady(batch));
  }

  /** What the archive answers if it is asked. What it held at the check counts: comments have no times here. */
  private answerOf({ postId, comments, archived }: { postId: string; comments: number; archived: number }, at: number) {
    const known = this.sweep.archivedOf(postId, comments, at);
    return known === undefined ? archived : undefined;
  }

  private check(now: number): boolean {
    const batch = this.sweep.nextCheck(now, this.callsPerSecond);
    if (batch === undefined) return false;
    const posts = batch.map((postId) => {
      this.checks.set(postId, [...(this.checks.get(postId) ?? []), now]);
      const { comments, archived } = this.posts.get(postId)!;
      return { postId, comments, archived };
    });
    this.pending.push({ at: now, posts });
    return true;
  }

  private read(now: number): boolean {
    const next = this.sweep.nextReading(now);
    if (next === undefined) return false;
    this.readings.push({ ...next, at: now });
    const post = this.posts.get(next.postId)!;
    const found = post.missingSince.length;
    this.waits.push(...post.missingSince.map((since) => now - since));
    post.missingSince = [];
    post.archived += found;
    const known = post.archived;
    this.sweep.learnReading(next.postId, { readAt: now, comments: post.comments, known, found, unread: 0 });
    return true;
  }
}
