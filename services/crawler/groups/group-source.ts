import { z } from 'zod';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { readCommunityRates, trimCommunityRates } from '../../../shared/crawl/community-rates.ts';
import { readCursor, saveCursor } from '../../../shared/crawl/crawl-cursors.ts';
import type { CrawlGap } from '../../../shared/crawl/crawl-gaps.ts';
import type { Upstream } from '../../../shared/forum-client/upstream-client.ts';
import { isOwnBudgetRefusal, UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { Call, CrawlSource, Fetched, Wait } from '../crawl-source.ts';
import type { FailureLog } from '../failure-log.ts';
import { PAGE_SIZE } from '../listing-segment.ts';
import { listedOf, readThings } from '../crawl-source.ts';
import type { GroupBudget } from '../pace.ts';
import type { SavedReading } from './group-position.ts';
import type { GroupRequest } from './group-polling.ts';
import { GroupPolling, MAX_GROUP_CALLS } from './group-polling.ts';

/** The communities are divided by a hash of their names; each slice has a lease of its own. */
export const SLICES = 4;
const ENDPOINT = 'listing-group-comments';
/** The forum's clock may be so far ahead of ours; later dates are wrong. */
const MOST_AHEAD_MS = 120_000;
/** About 20 MB. Quieter communities are not worth a call. */
const KEPT_COMMUNITIES = 200_000;

const savedPosition = z.object({
  groups: z.array(z.object({ names: z.array(z.string()), at: z.number() })),
  rest: z.number().optional(),
  slow: z.number().optional(),
});

const savedNames = z.array(z.string());

export interface GroupSourceDeps {
  upstream: Upstream;
  holder: string;
  db: Queryable;
  budget: GroupBudget;
  /** Outages of Postgres, of all sources of the process. */
  outages: Pick<FailureLog, 'failed' | 'succeeded'>;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  recordGap: (gap: CrawlGap) => void;
}

/** Polls groups of communities for comments that the listing of all communities drops. GroupPolling decides which. */
export class GroupSource implements CrawlSource {
  readonly name: string;
  readonly label = 'listings';
  readonly replay = false;
  readonly maxInFlight = MAX_GROUP_CALLS;
  private readonly slice: number;
  private readonly deps: GroupSourceDeps;
  private polling = new GroupPolling();
  private isForming = false;
  private isFormed = false;
  /** The names to save since groups were last formed. */
  private formedNames: readonly string[] | undefined;
  private wasShort = false;

  constructor(slice: number, deps: GroupSourceDeps) {
    this.name = `listings:groups:${slice}`;
    this.slice = slice;
    this.deps = deps;
  }

  async begin(position: unknown): Promise<void> {
    this.polling = new GroupPolling(position === undefined ? undefined : await this.savedReading(position));
    this.isForming = false;
    this.isFormed = false;
    this.formedNames = undefined;
    // Equal parts, until the rates are known.
    this.deps.budget.set(this.name, 1 / SLICES, false);
  }

  next(now: number): Call | Wait {
    const { polling } = this;
    if (this.formedNames !== undefined) return this.saveNames(this.formedNames);
    const perSecond = this.deps.budget.perSecond(this.name, now);
    if (!this.isForming && polling.mustForm(now, perSecond)) return this.form(polling);
    const request = polling.next(now, perSecond);
    if ('waitMs' in request) return request;
    return {
      fetch: (signal) => this.fetch(polling, request, signal),
      failed: () => {
        polling.failed(request, this.deps.clock());
        this.recordGaps(polling);
      },
    };
  }

  position(): unknown {
    return this.polling.position();
  }

  async end(): Promise<void> {
    this.deps.budget.remove(this.name);
    this.deps.outages.succeeded(this.ratesOutage);
    this.reportShortage();
  }

  private async fetch(polling: GroupPolling, request: GroupRequest, signal: AbortSignal): Promise<Fetched> {
    const { upstream, clock } = this.deps;
    const path = `/r/${request.group.names.join('+')}/comments`;
    const params = { limit: String(PAGE_SIZE), ...(request.after === undefined ? {} : { after: request.after }) };
    let body: unknown;
    try {
      body = await upstream.get(path, params, { endpoint: ENDPOINT, lane: 'groups', signal });
    } catch (error) {
      const answered = (acknowledged: () => void): Fetched => ({ things: [], seenAt: clock(), acknowledged });
      if (isAboutNames(error)) {
        return answered(() => {
          this.refused(polling, request);
        });
      }
      // A deeper page that the forum refuses must not hold up the other groups: it counts as answered.
      const isDeeper = request.after !== undefined && error instanceof UpstreamError && !isOwnBudgetRefusal(error);
      if (!isDeeper || polling.isFailing) throw error;
      return answered(() => {
        polling.failed(request, clock());
        this.recordGaps(polling);
      });
    }
    const seenAt = clock();
    const { things, malformed, after } = readThings(body, { ...this.deps, label: this.label, endpoint: ENDPOINT });
    const items = things.map((thing) => listedOf(thing, seenAt + MOST_AHEAD_MS));
    if (request.after === undefined && request.group.needsConfirmation({ items, after })) throw endsEarly();
    return {
      things,
      malformed,
      seenAt,
      acknowledged: () => {
        polling.learn(request, { items, after }, clock());
        this.recordGaps(polling);
      },
    };
  }

  private recordGaps(polling: GroupPolling): void {
    for (const missed of polling.takeGaps()) {
      this.deps.recordGap({ source: this.name, reason: 'listing_too_short', ...missed });
    }
  }

  private refused(polling: GroupPolling, request: GroupRequest): void {
    const name = polling.refused(request, this.deps.clock());
    if (name === undefined) return;
    this.deps.logger.warn(
      { source: this.name, subreddit: name },
      'the forum refuses a community; it is skipped for a day',
    );
  }

  /**
   * A call that reads the rates of the communities, not the forum. Without Postgres the groups stay as they are; while
   * there are none, this counts as a shortage.
   */
  private form(polling: GroupPolling): Call {
    this.isForming = true;
    const { clock } = this.deps;
    const formed = { things: [], seenAt: clock(), isLocal: true };
    return {
      fetch: async () => {
        try {
          const rates = await readCommunityRates(this.deps.db, { slice: this.slice, slices: SLICES });
          if (this.slice === 0) await trimCommunityRates(this.deps.db, KEPT_COMMUNITIES);
          return {
            ...formed,
            acknowledged: () => {
              this.formFrom(polling, rates);
            },
          };
        } catch (error) {
          if (!isPostgresUnavailable(error)) throw error;
          return {
            ...formed,
            acknowledged: () => {
              this.delayForm(polling, error);
            },
          };
        }
      },
      failed: () => {
        this.isForming = false;
        polling.delayForm(clock());
      },
    };
  }

  private delayForm(polling: GroupPolling, error: unknown): void {
    const { outages, budget, clock } = this.deps;
    this.isForming = false;
    polling.delayForm(clock());
    outages.failed(this.ratesOutage, error);
    if (this.isFormed) return;
    budget.set(this.name, 1 / SLICES, true);
    this.reportShortage();
  }

  private formFrom(
    polling: GroupPolling,
    { communities, share }: Awaited<ReturnType<typeof readCommunityRates>>,
  ): void {
    const { budget, logger, outages, clock } = this.deps;
    this.isForming = false;
    this.isFormed = true;
    outages.succeeded(this.ratesOutage);
    budget.set(this.name, share, false);
    const perSecond = budget.perSecond(this.name, clock());
    polling.form(communities, perSecond, clock());
    this.formedNames = polling.promptNames;
    budget.set(this.name, share, polling.leftOut > 0);
    const { groupCount: groups, leftOut } = polling;
    const fields = { source: this.name, groups, communities: communities.length, leftOut, perSecond };
    logger.info(fields, 'communities were grouped');
    this.reportShortage();
  }

  private async savedReading(position: unknown): Promise<SavedReading> {
    const names = savedNames.optional().parse(await readCursor(this.deps.db, this.namesCursor));
    return { ...savedPosition.parse(position), prompt: names && new Set(names) };
  }

  /**
   * A call that saves which communities are in groups that are not slow. They are too many for the position, which is
   * saved every two seconds. Without Postgres the names of the last time stay.
   */
  private saveNames(position: readonly string[]): Call {
    this.formedNames = undefined;
    const { db, holder, clock } = this.deps;
    const lease = { name: `crawl:${this.name}`, holder };
    return {
      fetch: async () => {
        await saveCursor(db, { source: this.namesCursor, position, lease }).catch((error: unknown) => {
          if (!isPostgresUnavailable(error)) throw error;
        });
        return { things: [], seenAt: clock(), isLocal: true, acknowledged: () => undefined };
      },
      failed: () => undefined,
    };
  }

  private get namesCursor(): string {
    return `${this.name}:prompt`;
  }

  /** Apart from the source itself, whose lease and position may be answered meanwhile. */
  private get ratesOutage(): string {
    return `${this.name}:rates`;
  }

  private reportShortage(): void {
    const { budget, metrics, logger } = this.deps;
    metrics.crawlerDegraded.set({ part: 'groups' }, budget.isShort ? 1 : 0);
    const isShort = this.polling.leftOut > 0;
    if (isShort === this.wasShort) return;
    this.wasShort = isShort;
    if (isShort) {
      const { leftOut } = this.polling;
      logger.warn({ source: this.name, leftOut }, 'the budget is too small for all groups that are worth reading');
    } else logger.info({ source: this.name }, 'the budget covers all groups that are worth reading');
  }
}

function endsEarly(): UpstreamError {
  const message = "a group's listing ends before the last known comments; it will be read again";
  return new UpstreamError('broken', message, { reason: 'short_listing' });
}

/** The forum refuses, does not know or moves what was asked for; it does not refuse this client. */
function isAboutNames(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  const isForbidden = error.failure === 'refused' && error.status === 403 && error.reason !== 'blocked';
  return isForbidden || error.failure === 'not_found' || error.failure === 'moved';
}
