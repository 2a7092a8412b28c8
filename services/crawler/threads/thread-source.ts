import type { CrawlGap } from '../../../shared/crawl/crawl-gaps.ts';
import { countArchivedComments, readArchivedComments } from '../../../shared/crawl/thread-items.ts';
import type { Thing } from '../../../shared/forum-client/parse-things.ts';
import { isOwnBudgetRefusal, patientUpstream } from '../../../shared/forum-client/upstream-error.ts';
import { engineCall, readCommentCounts, withoutItems } from '../archive-source.ts';
import type { ArchiveSourceDeps } from '../archive-source.ts';
import type { Call, CrawlSource, Fetched, Wait } from '../crawl-source.ts';
import { ArchivedActivity } from './archived-activity.ts';
import { DAY_MS, LONGEST_AGE_MS } from './check-plan.ts';
import { GapRecovery } from './gap-recovery.ts';
import { isInaccessible, readThread, RefusalConfirmation } from './read-thread.ts';
import { ThreadSweep } from './thread-sweep.ts';

/** Calls of one reading: about 500 comments for the first, up to 100 for each other. */
const MAX_CALLS = 30;
/** A post that is older than the archive needs only its latest comments. */
const MAX_CALLS_OF_OLD = 3;
const IDLE_MS = 1_000;
/** How long after its beginning a reading waits for the budget: what it has found is published at its end. */
const BUDGET_WAIT_MS = 30_000;
/** The checks of a second are compared with the archive together, but not all those of an outage. */
const COUNT_EVERY_MS = 1_000;
const MOST_CHECKS_COUNTED = 25;

export interface ThreadSourceDeps extends ArchiveSourceDeps {
  /** Called with a stretch in which comments may have been missed that only their threads show. */
  recordGap: (gap: CrawlGap) => void;
  /** The least time between two checks of a post; default: a minute. */
  checkEveryMs?: number | undefined;
}

interface Checked {
  at: number;
  posts: { postId: string; comments: number | undefined }[];
}

/**
 * Finds comments that no listing showed: num_comments of posts, a hundred a call, compared with the archive; then the
 * threads that hold more. All state is built from the archive again after a restart; the position is the time of the
 * last check. Without an answer for more than a day, all posts that were followed have become so old that they are
 * dropped when nothing is known of new comments, so what they got is a gap.
 */
export class ThreadSource implements CrawlSource {
  readonly name = 'threads';
  readonly label = 'threads';
  readonly replay = false;
  readonly isPatient = true;
  readonly maxInFlight = 8;
  private readonly deps: ThreadSourceDeps;
  private sweep: ThreadSweep;
  private activity: ArchivedActivity;
  private recovery: GapRecovery;
  /** Checks whose posts are to be compared with the archive once they have settled. */
  private settling: Checked[] = [];
  private readonly absences = new AbsenceConfirmation();
  private readonly refusals = new RefusalConfirmation();
  private isCounting = false;
  private countsAt = Number.NEGATIVE_INFINITY;
  /** When a check was answered last, also before a restart. */
  private checkedAt: number | undefined;

  constructor(deps: ThreadSourceDeps) {
    this.deps = deps;
    this.sweep = new ThreadSweep(deps.checkEveryMs);
    this.activity = new ArchivedActivity(this.sweep, { ...deps, ageMs: LONGEST_AGE_MS });
    this.recovery = new GapRecovery(this.sweep, deps);
  }

  async begin(position: unknown): Promise<void> {
    this.reset();
    this.checkedAt = (position as { checkedAt: number } | undefined)?.checkedAt;
  }

  next(now: number): Call | Wait {
    if (!this.deps.isArchiveReady()) return { waitMs: IDLE_MS };
    this.report();
    const loading = this.activity.next(now);
    if (loading !== undefined) return engineCall(loading, this.deps.clock);
    // Without their comments, posts look quiet and are dropped; and a post that is checked before the gaps are known
    // keeps none open. The next part is loaded as soon as the last one is.
    if (!this.activity.isLoaded) return { waitMs: IDLE_MS };
    const recovering = this.recovery.scans.next(now);
    if (recovering !== undefined) return engineCall(recovering, this.deps.clock);
    if (!this.recovery.scans.hasRun) return { waitMs: IDLE_MS };
    return this.nextCount(now) ?? this.nextCheck(now) ?? this.nextReading(now) ?? { waitMs: this.waitMs(now) };
  }

  position(): unknown {
    return this.checkedAt === undefined ? undefined : { checkedAt: this.checkedAt };
  }

  /** Keeps no followed post, which may be half a million. */
  async end(): Promise<void> {
    this.reset();
    this.report();
  }

  private reset(): void {
    const { deps } = this;
    this.sweep = new ThreadSweep(deps.checkEveryMs);
    this.activity = new ArchivedActivity(this.sweep, { ...deps, ageMs: LONGEST_AGE_MS });
    this.recovery = new GapRecovery(this.sweep, deps);
    this.settling = [];
    this.isCounting = false;
    this.countsAt = Number.NEGATIVE_INFINITY;
  }

  /** Zero where another process has the source. */
  private report(): void {
    this.deps.metrics.crawlerThreadBacklog.set(this.sweep.backlog);
    this.deps.metrics.crawlerFollowedPosts.set(this.sweep.size);
  }

  /** Compares the checks that have settled with the archive, which is asked only about posts that may differ. */
  private nextCount(now: number): Call | undefined {
    if (this.isCounting || now < this.countsAt) return undefined;
    const isUnsettled = ({ at }: Checked): boolean => now - at < this.sweep.settleMs;
    const end = this.settling.findIndex(isUnsettled);
    const settled = this.settling.slice(0, Math.min(MOST_CHECKS_COUNTED, end < 0 ? this.settling.length : end));
    if (settled.length === 0) return undefined;
    this.isCounting = true;
    const isFull = settled.length === MOST_CHECKS_COUNTED;
    this.countsAt = isFull ? now : now + Math.min(COUNT_EVERY_MS, this.sweep.settleMs / 5);
    return {
      fetch: async (signal) => {
        const counts = await this.countUnknown(settled, signal);
        const counted = withoutItems(this.deps.clock(), () => {
          this.isCounting = false;
          this.settling = this.settling.slice(settled.length);
          for (const { at, posts } of settled) {
            const compared = posts.map((post) => ({ ...post, archived: counts.get(post.postId) }));
            this.sweep.learnChecks(at, compared);
          }
        });
        return { ...counted, isLocal: true };
      },
      failed: () => {
        this.isCounting = false;
        this.sweep.noteOutage(this.deps.clock());
      },
    };
  }

  /** Archived comments of the posts of which the sweep does not know them. */
  private async countUnknown(checks: readonly Checked[], signal: AbortSignal): Promise<Map<string, number>> {
    const asked = checks.flatMap(({ at, posts }) =>
      posts
        .filter(({ postId, comments = 0 }) => this.sweep.archivedOf(postId, comments, at) === undefined)
        .map(({ postId }) => ({ postId, until: at })),
    );
    const counts = await countArchivedComments(this.deps.clickhouse, asked, signal);
    return new Map(asked.map(({ postId }) => [postId, counts.get(postId) ?? 0]));
  }

  private nextCheck(now: number): Call | undefined {
    const { upstream, clock } = this.deps;
    const postIds = this.sweep.nextCheck(now, upstream.perSecond('threads'));
    if (postIds === undefined) return undefined;
    return {
      fetch: async (signal) => {
        // The count may be as old as the request.
        const at = clock();
        const { counts, malformed } = await readCommentCounts(
          { ...this.deps, lane: 'threads', label: this.label },
          postIds,
          signal,
        );
        const unread = new Set(malformed.map(({ name }) => name));
        const isShown = (postId: string): boolean => counts.has(postId) || unread.has(`t3_${postId}`);
        const unconfirmed = new Set(this.absences.unconfirmed(postIds, isShown, at));
        const checked = withoutItems(this.deps.clock(), () => {
          this.sweep.checkFailed([...unconfirmed], { isLater: true });
          const posts = postIds.filter((postId) => !unconfirmed.has(postId));
          if (posts.length > 0) this.noteAnswer(at);
          this.settling.push({ at, posts: posts.map((postId) => ({ postId, comments: counts.get(postId) })) });
        });
        return { ...checked, malformed };
      },
      failed: () => {
        this.sweep.checkFailed(postIds);
      },
    };
  }

  private noteAnswer(at: number): void {
    const { checkedAt = at } = this;
    this.checkedAt = Math.max(checkedAt, at);
    if (at - checkedAt <= DAY_MS) return;
    const bounds = { afterThing: undefined, beforeThing: undefined };
    this.deps.recordGap({ source: this.name, reason: 'outage', ...bounds, afterAt: checkedAt, beforeAt: at });
  }

  private nextReading(now: number): Call | undefined {
    const reading = this.sweep.nextReading(now);
    if (reading === undefined) return undefined;
    const { postId } = reading;
    return {
      fetch: async (signal) => {
        try {
          const read = await this.read(reading, signal);
          this.refusals.noteRead();
          return read;
        } catch (error) {
          if (!isInaccessible(error) && !this.refusals.isConfirmed(postId, error)) throw error;
          return withoutItems(this.deps.clock(), () => {
            this.sweep.readingFailed(postId, 'inaccessible', this.deps.clock());
          });
        }
      },
      failed: (error) => {
        this.sweep.readingFailed(postId, isOwnBudgetRefusal(error) ? 'own_budget' : 'failed', this.deps.clock());
      },
    };
  }

  private async read({ postId, from }: { postId: string; from: number }, signal: AbortSignal): Promise<Fetched> {
    const archived = await readArchivedComments(this.deps.clickhouse, postId, signal);
    const isArchived = (name: string): boolean => archived.has(name);
    const waitsUntil = this.deps.clock() + BUDGET_WAIT_MS;
    const upstream = patientUpstream(this.deps.upstream, () => Math.max(0, waitsUntil - this.deps.clock()));
    const deps = { ...this.deps, upstream, lane: 'threads', label: this.label } as const;
    const isOld = this.sweep.isOld(postId);
    const options = { isArchived, maxCalls: isOld ? MAX_CALLS_OF_OLD : MAX_CALLS };
    const thread = await readThread(deps, postId, options, signal);
    const wanted = thread.found.filter(({ created_utc: seconds }) => !isOld || seconds * 1000 >= from);
    const comments = thread.post.num_comments ?? archived.size + thread.found.length;
    const known = archived.size + thread.found.length;
    return {
      things: wanted.map((data): Thing => ({ kind: 't1', data })),
      malformed: thread.malformed,
      seenAt: thread.readAt,
      acknowledged: () => {
        const unread = isOld || known >= comments ? 0 : thread.unread;
        const { readAt, isBrokenOff } = thread;
        this.sweep.learnReading(postId, { readAt, comments, known, found: wanted.length, unread, isBrokenOff });
      },
    };
  }

  private waitMs(now: number): number {
    const [checked] = this.settling;
    const settlesAt = checked === undefined || this.isCounting ? Infinity : checked.at + this.sweep.settleMs;
    const next = Math.min(
      Math.max(settlesAt, this.countsAt),
      this.sweep.nextPlanAt,
      this.activity.nextAt,
      this.recovery.scans.nextAt,
    );
    return Math.min(IDLE_MS, Math.max(1, next - now));
  }
}

/** Smaller answers say nothing about the forum as a whole. */
const LEAST_POSTS = 10;
/** A post that is still left out after this time counts as removed. */
const CONFIRM_AFTER_MS = 600_000;
/** No post is followed longer. */
const FORGOTTEN_AFTER_MS = 3 * 24 * 3_600_000;
const MOST_REMEMBERED = 250_000;

/**
 * The forum leaves removed posts out of its answers. A wrong answer must not make other posts count as checked. So an
 * answer that leaves out more than half of the posts asked for has to be confirmed. Posts that were left out ten
 * minutes before as well do not count among these. Times are milliseconds since 1970.
 */
class AbsenceConfirmation {
  /** Since when each post has been left out; those that were left out first come first. */
  private readonly leftOutSince = new Map<string, number>();

  /**
   * The posts that an answer to a call for `asked` leaves out and that do not count as removed yet. `isShown` says
   * which posts it shows.
   */
  unconfirmed(asked: readonly string[], isShown: (postId: string) => boolean, now: number): readonly string[] {
    const unconfirmed = asked.filter((postId) => {
      if (isShown(postId)) {
        this.leftOutSince.delete(postId);
        return false;
      }
      const since = this.leftOutSince.get(postId) ?? now;
      this.leftOutSince.set(postId, since);
      return now - since < CONFIRM_AFTER_MS;
    });
    for (const [postId, since] of this.leftOutSince) {
      if (this.leftOutSince.size <= MOST_REMEMBERED && now - since < FORGOTTEN_AFTER_MS) break;
      this.leftOutSince.delete(postId);
    }
    return asked.length < LEAST_POSTS || unconfirmed.length * 2 <= asked.length ? [] : unconfirmed;
  }
}
