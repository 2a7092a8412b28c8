import { z } from 'zod';
import { saveAuditSamples } from '../../../shared/crawl/crawl-coverage.ts';
import { countArchivedComments, readArchivedComments } from '../../../shared/crawl/thread-items.ts';
import type { CommentData, Thing } from '../../../shared/forum-client/parse-things.ts';
import { patientUpstream } from '../../../shared/forum-client/upstream-error.ts';
import type { ArchiveSourceDeps } from '../archive-source.ts';
import { engineCall, readCommentCounts, RegularWork, withoutItems } from '../archive-source.ts';
import type { Call, CrawlSource, Fetched, Wait } from '../crawl-source.ts';
import { ArchivedActivity } from '../threads/archived-activity.ts';
import { isInaccessible, readThread, RefusalConfirmation } from '../threads/read-thread.ts';
import type { ArchivedComment } from '../../../shared/crawl/thread-items.ts';
import type { MalformedItem } from '../../../shared/forum-client/malformed-item.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { boundsOfGap, readOpenGaps } from '../../../shared/crawl/crawl-gaps.ts';
import type { AuditCount, AuditedWindow, AuditWindow, Candidate } from './thread-audit.ts';
import { AUDITED_AGE_MS, ThreadAudit } from './thread-audit.ts';

/** Any number; it decides which posts are chosen. */
const SEED = 20_260_101;
const MAX_CALLS = 20;
/** How long a call waits for the budget once its reading has begun. */
const BUDGET_WAIT_MS = 300_000;
const IDLE_MS = 1_000;
/** An interval narrows only with the root of its sample: of 100 calls a second, up to 21 went into samples. */
const MOST_CALLS_PER_SECOND = 3;

const savedPosition = z.object({ auditedTo: z.number() });

interface AuditSourceDeps extends ArchiveSourceDeps {
  /** Lengths of a window, in milliseconds; see ThreadAudit. */
  stepsMs?: readonly number[] | undefined;
}

/**
 * Measures completeness: reads a sample of threads some time after their comments, and stores how many of them had been
 * seen before. What had not been seen is published.
 */
export class AuditSource implements CrawlSource {
  readonly name = 'audit';
  readonly label = 'audit';
  readonly replay = false;
  readonly isPatient = true;
  readonly maxInFlight = 2;
  private readonly deps: AuditSourceDeps;
  private audit: ThreadAudit;
  private posts: ArchivedActivity;
  private gaps: RegularWork;
  private auditedTo: number | undefined;
  /** A finished window that is not stored yet. */
  private unstored: AuditedWindow | undefined;
  private isStoring = false;
  private readonly refusals = new RefusalConfirmation();

  constructor(deps: AuditSourceDeps) {
    this.deps = deps;
    this.audit = this.newAudit();
    this.posts = this.newPosts();
    this.gaps = this.newGaps();
  }

  async begin(position: unknown): Promise<void> {
    this.auditedTo = savedPosition.safeParse(position).data?.auditedTo;
    this.reset();
  }

  next(now: number): Call | Wait {
    const { upstream, isArchiveReady } = this.deps;
    if (!isArchiveReady()) return { waitMs: IDLE_MS };
    const posts = this.posts.next(now) ?? this.gaps.next(now);
    if (posts !== undefined) return engineCall(posts, this.deps.clock);
    if (!this.posts.isLoaded || this.isStoring) return { waitMs: IDLE_MS };
    const callsPerSecond = Math.min(MOST_CALLS_PER_SECOND, upstream.perSecond('audit'));
    this.unstored ??= this.audit.takeFinished(now, callsPerSecond);
    if (this.unstored !== undefined) return this.store(this.unstored);
    const check = this.audit.nextCheck(now, callsPerSecond);
    if (check !== undefined) return this.check(check);
    const candidate = this.audit.nextReading(now, callsPerSecond);
    if (candidate !== undefined) return this.reading(candidate);
    return { waitMs: Math.min(IDLE_MS, Math.max(1, this.audit.nextAt(now) - now)) };
  }

  position(): unknown {
    return this.auditedTo === undefined ? undefined : { auditedTo: this.auditedTo };
  }

  async end(): Promise<void> {
    this.reset();
  }

  private reset(): void {
    this.audit = this.newAudit();
    this.posts = this.newPosts();
    this.gaps = this.newGaps();
    this.unstored = undefined;
    this.isStoring = false;
  }

  private newAudit(): ThreadAudit {
    const now = this.deps.clock();
    const { stepsMs } = this.deps;
    return new ThreadAudit(
      stepsMs === undefined ? { seed: SEED } : { seed: SEED, stepsMs },
      this.auditedTo ?? now,
      now,
    );
  }

  private newPosts(): ArchivedActivity {
    const { audit } = this;
    const add = ({ postId, createdAt }: { postId: string; createdAt: number }): void => {
      audit.offer(postId, createdAt);
    };
    return new ArchivedActivity({ add }, { ...this.deps, ageMs: AUDITED_AGE_MS });
  }

  private newGaps(): RegularWork {
    const { audit } = this;
    return postGaps(this.deps.db, (gaps) => {
      audit.setUnknownPosts(gaps);
    });
  }

  private store(finished: AuditedWindow): Call {
    this.isStoring = true;
    return {
      fetch: async () => {
        const samples = finished.samples.map((sample) => ({ ...sample, hour: new Date(finished.start) }));
        await saveAuditSamples(this.deps.db, samples);
        const stored = withoutItems(this.deps.clock(), () => {
          this.auditedTo = finished.end;
          this.unstored = undefined;
          this.isStoring = false;
        });
        return { ...stored, isLocal: true };
      },
      failed: () => {
        this.isStoring = false;
      },
    };
  }

  private check({ postIds, unknown }: { postIds: string[]; unknown: string[] }): Call {
    const { clickhouse } = this.deps;
    const until = this.audit.current.start;
    return {
      fetch: async (signal) => {
        const deps = { ...this.deps, lane: 'audit', label: this.label } as const;
        const { counts, malformed } = await readCommentCounts(deps, postIds, signal);
        const before = await countArchivedComments(
          clickhouse,
          unknown.map((postId) => ({ postId, until })),
          signal,
        );
        const checked = withoutItems(this.deps.clock(), () => {
          const isUnknown = new Set(unknown);
          this.audit.learnChecks(
            postIds.map((postId) => ({
              postId,
              comments: counts.get(postId),
              before: isUnknown.has(postId) ? (before.get(postId) ?? 0) : undefined,
            })),
          );
        });
        return { ...checked, malformed };
      },
      failed: () => {
        this.audit.checkFailed(postIds);
      },
    };
  }

  private reading(candidate: Candidate): Call {
    const { postId } = candidate;
    return {
      fetch: async (signal) => {
        try {
          const read = await this.read(candidate, signal);
          this.refusals.noteRead();
          return read;
        } catch (error) {
          if (!isInaccessible(error) && !this.refusals.isConfirmed(postId, error)) throw error;
          return withoutItems(this.deps.clock(), () => {
            this.audit.learnReading(postId, { seen: 0, total: 0 });
          });
        }
      },
      failed: () => {
        this.audit.readingFailed(candidate);
      },
    };
  }

  private async read({ postId }: Candidate, signal: AbortSignal): Promise<Fetched> {
    const { current: window, seenBy } = this.audit;
    const upstream = patientUpstream(this.deps.upstream, () => BUDGET_WAIT_MS);
    const deps = { ...this.deps, upstream, lane: 'audit', label: this.label } as const;
    const before = await readArchivedComments(this.deps.clickhouse, postId, signal);
    const options = { isArchived: (name: string) => before.has(name), maxCalls: MAX_CALLS };
    const thread = await readThread(deps, postId, options, signal);
    const found = thread.found.filter(({ created_utc: seconds }) => seconds * 1000 < window.end);
    const known = before.size + thread.found.length;
    const left = thread.unread + countMalformed(thread.malformed, before);
    const unread = Math.min(left, Math.max(0, (thread.post.num_comments ?? Infinity) - known));
    const count = countWindow({ window, seenBy, found: thread.found, archived: before, unread });
    return {
      things: found.map((data): Thing => ({ kind: 't1', data })),
      malformed: thread.malformed,
      seenAt: thread.readAt,
      acknowledged: () => {
        this.audit.learnReading(postId, count);
      },
    };
  }
}

/** A thread that was read for a window. */
interface WindowReading {
  window: AuditWindow;
  /** What was seen later counts as not seen: the same moment for all threads of the window. */
  seenBy: number;
  /** Comments of any time that the thread showed and the archive did not have. */
  found: readonly Pick<CommentData, 'created_utc'>[];
  /** Comments of any time that the archive had. */
  archived: ReadonlyMap<string, ArchivedComment>;
  /** Comments of unknown time that the archive did not have and that could not be read, also for their shape. */
  unread: number;
}

/**
 * Counts the comments of the window: those that the thread showed, those that the archive has, and of those that could
 * not be read the part that the window has of the others. Left out, they would make the thread look better seen.
 */
export function countWindow({ window, seenBy, found, archived, unread }: WindowReading): AuditCount {
  const isIn = (createdAt: number): boolean => createdAt >= window.start && createdAt < window.end;
  let [seen, total] = [0, 0];
  for (const { createdAt, seenAt, source } of archived.values()) {
    if (!isIn(createdAt)) continue;
    total += 1;
    // What another audit found first had not been seen.
    if (source !== 'audit' && seenAt <= seenBy) seen += 1;
  }
  for (const { created_utc: seconds } of found) if (isIn(seconds * 1000)) total += 1;
  const read = archived.size + found.length;
  return { seen, total: total + (read === 0 ? unread : Math.ceil((unread * total) / read)) };
}

/** Counts the comments of unknown shape, except those that are archived because their dead letters were replayed. */
export function countMalformed(
  malformed: readonly MalformedItem[],
  archived: Pick<WindowReading['archived'], 'has'>,
): number {
  // Several answers of a reading may show the same comment.
  const lost = new Set<unknown>();
  for (const { kind, name, raw } of malformed) {
    if (kind === 't1' && !(name !== undefined && archived.has(name))) lost.add(name ?? raw);
  }
  return lost.size;
}

const EVERY_MS = 10_000;
const LIMIT = 500;

/** A time whose posts are not all known; milliseconds since 1970, both included. */
export interface UnknownPosts {
  afterAt: number;
  beforeAt: number;
}

/** Reports the times whose posts the walk over post ids has not caught up with yet. */
export function postGaps(db: Queryable, learn: (gaps: readonly UnknownPosts[]) => void): RegularWork {
  return new RegularWork(EVERY_MS, async () => {
    learn((await readOpenGaps(db, { limit: LIMIT, sourcePrefix: 'post-ids' })).map(boundsOfGap));
  });
}
