import { z } from 'zod';
import { saveAuditSamples } from '../../../shared/stores/crawl/audit-samples.ts';
import { countArchivedComments, readArchivedComments } from '../../../shared/stores/crawl/thread-items.ts';
import type { Thing } from '../../../shared/upstream/parsing/thing-schema.ts';
import { patientUpstream } from '../../../shared/upstream/patient-upstream.ts';
import type { ArchiveSourceDeps } from '../archive-source.ts';
import { engineCall, readCommentCounts, withoutThings } from '../archive-source.ts';
import type { Call, CrawlSource, Fetched, Wait } from '../crawl-source.ts';
import { ArchivedActivity } from '../threads/archived-activity.ts';
import { isGone, readThread } from '../threads/read-thread.ts';
import { RefusalDoubt } from '../threads/refusal-doubt.ts';
import type { Candidate } from './audit-readings.ts';
import { AUDITED_AGE_MS } from './audited-posts.ts';
import { countUnreadable, countWindow } from './count-window.ts';
import { PostGaps } from './post-gaps.ts';
import { ThreadAudit } from './thread-audit.ts';
import type { AuditedWindow } from './thread-audit.ts';

/** Any number; it decides which posts are chosen. */
const SEED = 20_260_101;
const MAX_CALLS = 20;
/** For a call of a reading that has begun. */
const BUDGET_WAIT_MS = 300_000;
const IDLE_MS = 1_000;
/** An interval narrows only with the root of its sample: of 100 calls a second, up to 21 went into samples. */
const MOST_CALLS_PER_SECOND = 3;

const savedPosition = z.object({ auditedTo: z.number() });

export interface AuditSourceDeps extends ArchiveSourceDeps {
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
  private gaps: PostGaps;
  private auditedTo: number | undefined;
  /** A finished window that is not stored yet. */
  private unstored: AuditedWindow | undefined;
  private isStoring = false;
  private readonly refusals = new RefusalDoubt();

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

  /** Keeps none of the posts to audit. */
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

  private newGaps(): PostGaps {
    const { audit } = this;
    return new PostGaps(this.deps.db, (gaps) => {
      audit.setUnknownPosts(gaps);
    });
  }

  private store(finished: AuditedWindow): Call {
    this.isStoring = true;
    return {
      fetch: async () => {
        const samples = finished.samples.map((sample) => ({ ...sample, hour: new Date(finished.start) }));
        await saveAuditSamples(this.deps.db, samples);
        const stored = withoutThings(this.deps.clock(), () => {
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
        const { counts, unreadable } = await readCommentCounts(deps, postIds, signal);
        const before = await countArchivedComments(
          clickhouse,
          unknown.map((postId) => ({ postId, until })),
          signal,
        );
        const checked = withoutThings(this.deps.clock(), () => {
          const isUnknown = new Set(unknown);
          this.audit.learnChecks(
            postIds.map((postId) => ({
              postId,
              comments: counts.get(postId),
              before: isUnknown.has(postId) ? (before.get(postId) ?? 0) : undefined,
            })),
          );
        });
        return { ...checked, unreadable };
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
          if (!isGone(error) && !this.refusals.isBelievable(postId, error)) throw error;
          return withoutThings(this.deps.clock(), () => {
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
    const left = thread.unread + countUnreadable(thread.unreadable, before);
    const unread = Math.min(left, Math.max(0, (thread.post.num_comments ?? Infinity) - known));
    const count = countWindow({ window, seenBy, found: thread.found, archived: before, unread });
    return {
      things: found.map((data): Thing => ({ kind: 't1', data })),
      unreadable: thread.unreadable,
      seenAt: thread.readAt,
      acknowledged: () => {
        this.audit.learnReading(postId, count);
      },
    };
  }
}
