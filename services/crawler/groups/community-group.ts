import { ListingRate } from '../listing-source.ts';
import type { ListingPage } from '../listing-timeline.ts';
import type { MissedStretch } from '../listing-segment.ts';
import { FRESH_OF_PAGE } from '../listing-segment.ts';
import type { Candidate, PlannedGroup } from './form-groups.ts';
import { MIN_INTERVAL_MS } from './form-groups.ts';
import type { KnownPart } from './group-reading.ts';
import { GroupReading, shownToOf } from './group-reading.ts';

const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** A reading whose deeper page fails this often in a row, while the forum answers other calls, is given up. */
const FAILURES_OF_A_PAGE = 3;

/** Communities that share a listing, and how far it was read. Times are milliseconds since 1970. */
export class CommunityGroup {
  readonly names: readonly string[];
  readonly maxIntervalMs: number;
  private readonly members: readonly Candidate[];
  /** True while a call is under way; a group makes one at a time. */
  isInFlight = false;
  retryAt = -Infinity;
  /** Several parts until the group was first read after it was formed; none if nothing was read before. */
  known: readonly KnownPart[];
  private readonly rate: ListingRate;
  /** Names on the newest page of the last reading. The page before it helps with pages from a cache. */
  private lastNames: readonly string[] = [];
  /** The newest name shown. */
  newest: string | undefined;
  private reading: GroupReading | undefined;
  private cursor: string | undefined;
  private lastSentAt: number | undefined;
  /** Of the reading before; for when the call fails. */
  private sentBefore: number | undefined;
  private failures = 0;
  /** The first of the failures in a row. */
  private failingSince = Infinity;
  /** The last answer for the newest page counted as a failure until the next one confirms it. */
  private isUnconfirmed = false;

  constructor(plan: PlannedGroup, known: readonly KnownPart[]) {
    this.members = plan.members;
    this.names = plan.members.map(({ name }) => name);
    this.maxIntervalMs = plan.maxIntervalMs;
    this.known = known;
    this.lastSentAt = this.completeSince;
    this.rate = new ListingRate(plan.members.reduce((sum, { perSecond }) => sum + perSecond, 0));
  }

  /** When all of it was read last; undefined: never. */
  get completeSince(): number | undefined {
    return this.known.length === 0 ? undefined : Math.min(...this.known.map((part) => part.completeSince));
  }

  /** Everything that the forum dates before this time and lists was read; undefined if nothing was. */
  get shownTo(): number | undefined {
    return this.known.length === 0 ? undefined : Math.min(...this.known.map(shownToOf));
  }

  /** Until a page is nearly full. */
  get intervalMs(): number {
    return Math.max(MIN_INTERVAL_MS, Math.min(this.maxIntervalMs, this.rate.msFor(FRESH_OF_PAGE)));
  }

  /** The page to ask for next; undefined: the newest. */
  get after(): string | undefined {
    return this.reading && this.cursor;
  }

  /** How long the next call is overdue, in intervals; deeper pages come first. */
  overdue(now: number): number {
    if (this.isInFlight || now < this.retryAt) return -Infinity;
    if (this.reading) return Infinity;
    if (this.lastSentAt === undefined) return 1;
    return (now - this.lastSentAt) / this.intervalMs;
  }

  dueAt(): number {
    if (this.isInFlight) return Infinity;
    if (this.reading || this.lastSentAt === undefined) return this.retryAt;
    return Math.max(this.retryAt, this.lastSentAt + this.intervalMs);
  }

  start(now: number): void {
    this.isInFlight = true;
    if (this.reading) return;
    this.sentBefore = this.lastSentAt;
    this.lastSentAt = now;
  }

  /** Neither this group nor any source before has shown a comment of its communities. */
  get mayBeEmpty(): boolean {
    return this.newest === undefined && this.members.every(({ isUnseen }) => isUnseen);
  }

  /**
   * Whether an answer for the newest page counts as a failure, because the listing ends before it shows anything known.
   * If the next answer does so too, it counts and leaves a gap: everything known may have been removed.
   */
  needsConfirmation(page: ListingPage): boolean {
    const endsEarly = page.after === undefined && new GroupReading(this, page, 0).learn(page).outcome === 'gap';
    this.isUnconfirmed = endsEarly && !this.isUnconfirmed;
    return this.isUnconfirmed;
  }

  /** Learns a page once the broker has acknowledged everything on it. Returns a gap that it leaves. */
  learn(page: ListingPage, sentAt: number): MissedStretch | undefined {
    this.isInFlight = false;
    this.failures = 0;
    this.reading ??= new GroupReading(this, page, sentAt);
    const { reading } = this;
    const result = reading.learn(page);
    if (result.outcome === 'deeper') {
      this.cursor = result.after;
      return undefined;
    }
    this.end(reading, result.outcome === 'joined');
    return result.outcome === 'gap' ? result.missed : undefined;
  }

  private end(reading: GroupReading, isJoined: boolean): void {
    this.measure(reading, isJoined);
    const anchors = new Set([...this.lastNames, ...reading.names]);
    const { startedAt: completeSince, shownTo } = reading;
    this.known = [{ anchors, completeSince, shownTo, wasEmpty: anchors.size === 0 }];
    this.lastNames = reading.names;
    this.newest = reading.newest ?? this.newest;
    this.reading = undefined;
  }

  /**
   * The call failed. Returns a gap if the reading is given up: a deeper page that fails again and again, while newest
   * pages are answered, must not keep the newest page of this group from being read.
   *
   * @param newestAnsweredAt when the newest page of some group was answered last
   */
  failed(now: number, newestAnsweredAt = -Infinity): MissedStretch | undefined {
    const { reading } = this;
    this.isInFlight = false;
    if (this.failures === 0) this.failingSince = now;
    if (!reading) this.lastSentAt = this.sentBefore;
    this.retryAt = now + Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** this.failures);
    this.failures += 1;
    if (!reading || this.failures < FAILURES_OF_A_PAGE || newestAnsweredAt <= this.failingSince) return undefined;
    this.failures = 0;
    this.retryAt = now;
    this.end(reading, false);
    return reading.missed();
  }

  /** Two groups of similar rates, which continue where this one is. */
  split(): CommunityGroup[] {
    return [0, 1].map((half) => this.restrictedTo(this.names.filter((_, index) => index % 2 === half)));
  }

  /** A group of some of its communities, which continues where this one is. */
  restrictedTo(names: readonly string[]): CommunityGroup {
    const wanted = new Set(names);
    const members = this.members.filter(({ name }) => wanted.has(name));
    return new CommunityGroup({ members, maxIntervalMs: this.maxIntervalMs }, this.known);
  }

  private measure(reading: GroupReading, isJoined: boolean): void {
    const elapsedMs = reading.startedAt - (this.sentBefore ?? reading.startedAt);
    // What is new on a page is known only if the group was read before as it is.
    if (this.lastNames.length === 0 || elapsedMs <= 0) return;
    // The dates tell how fast a listing moves that was not read down to what is known.
    const comments = isJoined ? reading.fresh : (reading.fresh * elapsedMs) / Math.max(1_000, reading.spanMs);
    this.rate.learn(comments, elapsedMs);
  }
}
