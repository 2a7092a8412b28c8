import type { Candidate } from '../../../../services/crawler/coverage/thread-audit.ts';
import { ThreadAudit } from '../../../../services/crawler/coverage/thread-audit.ts';
import type { ForumAnswer } from '../../forum-model/forum-reader.ts';
import { postId, postOrdinal } from '../../forum-model/stores.ts';
import type { Fresh } from '../sightings.ts';
import type { SourceContext } from '../virtual-crawl.ts';
import type { VirtualCall, VirtualSource } from '../virtual-process.ts';

const PURPOSE = 'audit';
const NAMES = 100;

/** A reading under way: what its thread shows, and the names that its answer left out. */
interface Reading {
  candidate: Candidate;
  shown: number[];
  names: string[];
}

/** ThreadAudit, with an archive that answers at once. Beside each window it notes the truth. */
export class VirtualAudit implements VirtualSource {
  readonly name = 'audit';
  readonly maxInFlight = 4;
  private readonly context: SourceContext;
  private readonly fresh: Fresh;
  private readonly lookups: Reading[] = [];
  private audit: ThreadAudit | undefined;
  private truth: { start: number; seen: number; total: number } | undefined;

  constructor(context: SourceContext) {
    this.context = context;
    this.fresh = context.sightings.follow();
  }

  begin(_position: unknown, now: number): void {
    this.audit = new ThreadAudit({ seed: this.context.forum.options.seed }, now, now);
    this.offerPosts(this.audit, this.context.sightings.seenPosts());
  }

  next(now: number): VirtualCall | { waitMs: number } {
    const { audit } = this;
    if (!audit) return { waitMs: 60_000 };
    const perSecond = this.context.process.budget.perSecond('audit', now);
    this.offerPosts(audit, this.fresh.posts.splice(0));
    this.fresh.comments.length = 0;
    this.store(audit, now, perSecond);
    const lookup = this.lookups.shift();
    if (lookup) return this.lookUp(audit, lookup);
    const check = audit.nextCheck(now, perSecond);
    if (check) return this.check(audit, check.postIds, new Set(check.unknown));
    const candidate = audit.nextReading(now, perSecond);
    if (candidate) return this.read(audit, candidate);
    return { waitMs: Math.max(100, audit.nextAt(now) - now) };
  }

  position(): unknown {
    return undefined;
  }

  private offerPosts(audit: ThreadAudit, posts: Iterable<number>): void {
    const { forum } = this.context;
    for (const post of posts) {
      audit.offer(postId(post), forum.options.startsAt + forum.posts.createdAt[post]!);
    }
  }

  private store(audit: ThreadAudit, now: number, perSecond: number): void {
    const finished = audit.takeFinished(now, perSecond);
    if (!finished) return;
    const { start, end, samples } = finished;
    const truth = this.truth?.start === start ? this.truth : this.countTruth(start, end, now);
    this.context.audited.push({ start, end, samples, truth: { seen: truth.seen, total: truth.total } });
    this.truth = undefined;
  }

  private check(audit: ThreadAudit, postIds: readonly string[], unknown: ReadonlySet<string>): VirtualCall {
    const { forum, sightings } = this.context;
    const { start } = audit.current;
    return {
      request: { path: '/api/info', names: postIds.map((id) => `t3_${id}`) },
      lane: 'audit',
      purpose: PURPOSE,
      succeeded: ({ posts }) => {
        const counts = new Map(posts.map((ordinal) => [ordinal, forum.posts.comments[ordinal]!]));
        const checked = postIds.map((id) => {
          const ordinal = postOrdinal(id);
          const before = unknown.has(id) ? sightings.archivedOf(ordinal, start - forum.options.startsAt) : undefined;
          return { postId: id, comments: counts.get(ordinal), before };
        });
        audit.learnChecks(checked);
      },
      failed: () => {
        audit.checkFailed(postIds);
      },
    };
  }

  private read(audit: ThreadAudit, candidate: Candidate): VirtualCall {
    const { reader, sightings } = this.context;
    const { start, end } = audit.current;
    if (this.truth?.start !== start) this.truth = this.countTruth(start, end, audit.seenBy);
    return {
      request: { path: '/comments', postId: candidate.postId },
      publishes: (answer) => this.createdBefore(answer, end),
      lane: 'audit',
      purpose: PURPOSE,
      succeeded: ({ comments, more }) => {
        const unseen = more.filter((index) => sightings.commentSeenAt(index) === 0);
        const names = unseen.map((index) => reader.commentName(index));
        this.finishOrLookUp(audit, { candidate, shown: [...comments, ...more], names });
      },
      failed: () => {
        audit.readingFailed(candidate);
      },
    };
  }

  private lookUp(audit: ThreadAudit, reading: Reading): VirtualCall {
    return {
      request: { path: '/api/info', names: reading.names.slice(0, NAMES) },
      publishes: (answer) => this.createdBefore(answer, audit.current.end),
      lane: 'audit',
      purpose: PURPOSE,
      succeeded: () => {
        reading.names = reading.names.slice(NAMES);
        this.finishOrLookUp(audit, reading);
      },
      failed: () => {
        this.lookups.unshift(reading);
      },
    };
  }

  private finishOrLookUp(audit: ThreadAudit, reading: Reading): void {
    if (reading.names.length > 0) {
      this.lookups.push(reading);
      return;
    }
    const { start, end } = audit.current;
    const inWindow = reading.shown.filter((index) => this.isCreatedIn(index, start, end));
    const seen = inWindow.filter((index) => this.wasSeen(index, audit.seenBy)).length;
    audit.learnReading(reading.candidate.postId, { seen, total: inWindow.length });
  }

  /** Of all comments that the forum shows: those created in the window, and those of them seen before `at`. */
  private countTruth(start: number, end: number, at: number): { start: number; seen: number; total: number } {
    const { comments, options } = this.context.forum;
    let seen = 0;
    let total = 0;
    for (let index = comments.countAt(start - options.startsAt); index < comments.count; index++) {
      if (!this.isCreatedIn(index, start, end)) continue;
      total += 1;
      if (this.wasSeen(index, at)) seen += 1;
    }
    return { start, seen, total };
  }

  /** What was created after the window is left to the other sources, which the next window measures. */
  private createdBefore(answer: ForumAnswer, end: number): ForumAnswer {
    return { ...answer, comments: answer.comments.filter((index) => this.isCreatedIn(index, 0, end)) };
  }

  private isCreatedIn(index: number, start: number, end: number): boolean {
    const { comments, options } = this.context.forum;
    const createdAt = options.startsAt + comments.createdAt(index);
    return createdAt >= start && createdAt < end;
  }

  private wasSeen(index: number, before: number): boolean {
    const { sightings } = this.context;
    const seenAt = sightings.commentSeenAt(index);
    return seenAt > 0 && seenAt < before && sightings.firstSeenBy(index) !== PURPOSE;
  }
}
