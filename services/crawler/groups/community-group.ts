import type { Listed } from '../listed.ts';
import { HeadInterval } from '../listings/head-interval.ts';
import type { ListingPage } from '../listings/listing-timeline.ts';
import type { MissedStretch } from '../listings/segment-list.ts';
import type { PlannedGroup } from './form-groups.ts';
import { FRESH_PER_PAGE, MIN_INTERVAL_MS } from './form-groups.ts';
import type { KnownPart } from './group-reading.ts';
import { GroupReading } from './group-reading.ts';

const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** A group that overflows this many times in a row is split. */
const OVERFLOWS = 2;

/** Communities that share a listing, and how far it was read. Times are milliseconds since 1970. */
export class CommunityGroup {
  readonly names: readonly string[];
  readonly gain: number;
  readonly maxIntervalMs: number;
  /** Comments a second on average over a day. */
  readonly usualPerSecond: number;
  /** What the last page added, if it was a newest one and what came before is known. */
  lastFresh: { comments: number; elapsedMs: number } | undefined;
  /** True while a call is under way; a group makes one at a time. */
  isInFlight = false;
  retryAt = -Infinity;
  /** Several parts until the group was first read after it was formed; none if nothing was read before. */
  known: readonly KnownPart[];
  private readonly pace: HeadInterval;
  /** Names on the newest page of the last reading. The page before it helps with pages from a cache. */
  private lastNames: readonly string[] = [];
  /** The newest name shown. */
  newest: string | undefined;
  private reading: GroupReading | undefined;
  private cursor: string | undefined;
  private lastSentAt: number | undefined;
  /** For when the call fails. */
  private sentBefore: number | undefined;
  private polls = 0;
  private overflows = 0;
  private failures = 0;

  constructor(plan: PlannedGroup, known: readonly KnownPart[]) {
    this.names = plan.names;
    this.gain = plan.gain;
    this.maxIntervalMs = plan.maxIntervalMs;
    this.usualPerSecond = plan.usualPerSecond;
    this.known = known;
    this.lastSentAt = this.completeSince;
    const limits = { freshPerPage: FRESH_PER_PAGE, minMs: MIN_INTERVAL_MS, maxMs: plan.maxIntervalMs };
    this.pace = new HeadInterval({ ...limits, perSecond: plan.perSecond });
  }

  /** Everything that was created before this time and is listed was read; undefined if nothing was. */
  get completeSince(): number | undefined {
    return this.known.length === 0 ? undefined : Math.min(...this.known.map((part) => part.completeSince));
  }

  get intervalMs(): number {
    return this.pace.intervalMs;
  }

  /** The page to ask for next; undefined: the newest. */
  get after(): string | undefined {
    return this.reading && this.cursor;
  }

  /** True if even the shortest interval brings more than a page. */
  get mustSplit(): boolean {
    return this.overflows >= OVERFLOWS && this.names.length > 1 && this.intervalMs <= MIN_INTERVAL_MS;
  }

  /** How long the next call is overdue, in intervals of `stretch` times its length; deeper pages come first. */
  overdue(now: number, stretch: number): number {
    if (this.isInFlight || now < this.retryAt) return -Infinity;
    if (this.reading) return Infinity;
    if (this.lastSentAt === undefined) return 1;
    // The clock was set back.
    if (now < this.lastSentAt) this.lastSentAt = now;
    return (now - this.lastSentAt) / (this.intervalMs * stretch);
  }

  /** When the next call is due. */
  dueAt(stretch: number): number {
    if (this.isInFlight) return Infinity;
    if (this.reading || this.lastSentAt === undefined) return this.retryAt;
    return Math.max(this.retryAt, this.lastSentAt + this.intervalMs * stretch);
  }

  start(now: number): void {
    this.isInFlight = true;
    if (this.reading) return;
    this.sentBefore = this.lastSentAt;
    this.lastSentAt = now;
  }

  /** Learns a page once the broker has acknowledged everything on it. Returns a gap that it leaves. */
  learn(page: ListingPage, sentAt: number): MissedStretch | undefined {
    this.isInFlight = false;
    this.failures = 0;
    const isFirst = this.reading === undefined;
    this.lastFresh = undefined;
    this.reading ??= new GroupReading(this, page, sentAt);
    const { reading } = this;
    const result = reading.learn(page);
    if (isFirst) this.measure(page, sentAt, result.outcome === 'joined');
    if (result.outcome === 'deeper') {
      this.cursor = result.after;
      return undefined;
    }
    this.known = [{ anchors: new Set([...this.lastNames, ...reading.names]), completeSince: reading.startedAt }];
    this.lastNames = reading.names;
    this.newest = reading.newest ?? this.newest;
    this.reading = undefined;
    return result.outcome === 'gap' ? result.missed : undefined;
  }

  failed(now: number): void {
    this.isInFlight = false;
    if (!this.reading) this.lastSentAt = this.sentBefore;
    this.retryAt = now + Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** this.failures);
    this.failures += 1;
  }

  /** The items of a page that this group has not shown, if what it showed before is known. */
  freshOf(items: readonly Listed[]): readonly Listed[] {
    if (!this.isMeasurable) return [];
    return items.filter(({ name }) => !this.isKnown(name));
  }

  /** Two groups of similar rates, which continue where this one is. */
  split(): CommunityGroup[] {
    return [0, 1].map((half) => this.restrictedTo(this.names.filter((_, index) => index % 2 === half)));
  }

  /** A group of some of its communities, which continues where this one is. */
  restrictedTo(names: readonly string[]): CommunityGroup {
    const part = names.length / this.names.length;
    const { gain, maxIntervalMs } = this;
    const perSecond = part * this.perSecond;
    const usualPerSecond = part * this.usualPerSecond;
    return new CommunityGroup(
      { names: [...names], perSecond, usualPerSecond, gain: part * gain, maxIntervalMs },
      this.known,
    );
  }

  /** Comments a second, as measured; before several pages, as expected. */
  private get perSecond(): number {
    return (FRESH_PER_PAGE * 1000) / this.pace.fillMs;
  }

  /** What is new on a page is known, because the group was read before as it is. */
  private get isMeasurable(): boolean {
    return this.lastNames.length > 0;
  }

  private isKnown(name: string): boolean {
    return this.known.some(({ anchors }) => anchors.has(name));
  }

  private measure(page: ListingPage, sentAt: number, isJoined: boolean): void {
    this.polls += 1;
    const fresh = page.items.filter(({ name }) => !this.isKnown(name)).length;
    const isOverflow = this.isMeasurable && !isJoined && fresh === page.items.length;
    this.overflows = isOverflow ? this.overflows + 1 : 0;
    const outcome = isOverflow ? 'overflow' : this.isMeasurable ? 'joined' : 'first';
    const elapsedMs = sentAt - (this.sentBefore ?? sentAt);
    if (this.isMeasurable && !isOverflow && elapsedMs > 0) this.lastFresh = { comments: fresh, elapsedMs };
    const dates = page.items.map(({ createdAt }) => createdAt);
    // Its own dates tell how fast an overflowing listing moves.
    const spanMs = Math.max(1_000, Math.max(...dates) - Math.min(...dates));
    const expected = isOverflow ? Math.max(fresh, (fresh * elapsedMs) / spanMs) : fresh;
    this.pace.learn({ sequence: this.polls, sentAt }, { fresh: expected, outcome });
  }
}
