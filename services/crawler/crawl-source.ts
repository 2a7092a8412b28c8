import { fullnameOf, parseListing } from '../../shared/forum-client/parse-things.ts';
import type { ParsedListing, Thing } from '../../shared/forum-client/parse-things.ts';
import { identifyItem } from '../../shared/forum-client/malformed-item.ts';
import type { MalformedItem } from '../../shared/forum-client/malformed-item.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

/** The result of one call of a source. */
export interface Fetched {
  things: readonly Thing[];
  /** Items of unknown shape, which are kept as dead letters. */
  malformed?: readonly MalformedItem[];
  /** When the items were received, in milliseconds since 1970. */
  seenAt: number;
  /** Called once, after the broker has every item, malformed ones too. Only then may the source advance. */
  acknowledged: () => void;
  /** True when only our own engines were asked: success then says nothing about the forum or the budget. */
  isLocal?: boolean;
  /** True when the source has no more items, now or later. */
  done?: boolean;
}

export interface Call {
  /** Throws UpstreamError when the forum does not answer, or the error of an engine that is unavailable. */
  fetch: (signal: AbortSignal) => Promise<Fetched>;
  /** Called once if `fetch` or publishing failed, instead of `acknowledged`. The source may ask for the same again. */
  failed: (error: unknown) => void;
}

/** The source has no call to make for this time. It is asked earlier if one of its calls ends. */
export interface Wait {
  waitMs: number;
}

/** As in metrics and in the headers of dead letters. */
export const SOURCE_LABELS = ['post-ids', 'comment-ids', 'listings', 'threads', 'audit', 'replay'] as const;
export type SourceLabel = (typeof SOURCE_LABELS)[number];

/**
 * A source of posts and comments, read in calls that may overlap. A later call asks again for what a failed one did not
 * deliver, so nothing is lost when publishing fails; the dedupe removes repetitions. Only SourceRunner calls a source.
 */
export interface CrawlSource {
  /** The name of the lease and the cursor in Postgres; unique among all sources. */
  readonly name: string;
  readonly label: SourceLabel;
  /** True when the items come from a file: the forum is never asked about them. */
  readonly replay: boolean;
  /** The number of calls that may be in flight at once, which also bounds the memory of a slow broker. */
  readonly maxInFlight: number;
  /** True if its calls are not urgent: while the budget refuses them, fewer are made at once. Default: false. */
  readonly isPatient?: boolean;
  /** Starts from a saved position; undefined on the first start ever. Called each time that the lease is acquired. */
  begin: (position: unknown) => Promise<void>;
  /** The next call, or how long to wait. Asked again after each start and end of a call. `now`: ms since 1970. */
  next: (now: number) => Call | Wait;
  /** The position that `begin` needs to resume after everything acknowledged so far; stored as JSON. */
  position: () => unknown;
  /** Closes files and leaves the shared pace. Called when the lease is released or lost, and no call is in flight. */
  end: () => Promise<void>;
}

/** What a source's decisions need to know about an item. */
export interface Listed {
  /** Fullname. */
  name: string;
  /** The forum's date, in milliseconds since 1970, but never in the future: it would move the bounds of a gap. */
  createdAt: number;
}

/** `seenAt`: milliseconds since 1970. */
export function listedOf(thing: Thing, seenAt: number): Listed {
  return { name: fullnameOf(thing), createdAt: Math.min(thing.data.created_utc * 1000, seenAt) };
}

interface ThingReader {
  metrics: Metrics;
  logger: Logger;
  label: CrawlSource['label'];
  endpoint: string;
}

interface ReadThings extends ParsedListing {
  malformed: MalformedItem[];
}

/**
 * Parses the items of a listing. An item of unknown shape must not stop the others: it is counted as a call with
 * outcome `shape`, logged with its path, and returned to be kept. Unknown kinds are counted.
 *
 * @throws UpstreamError when the listing itself has an unknown shape.
 */
export function readThings(body: unknown, reader: ThingReader): ReadThings {
  const page = parseListing(body);
  for (const { path, message } of page.faults) {
    reader.metrics.upstreamRequests.inc({ endpoint: reader.endpoint, outcome: 'shape' });
    reader.logger.error({ endpoint: reader.endpoint, path, message }, 'an item has an unknown shape');
  }
  for (const [, count] of page.unknownKinds) reader.metrics.crawlerUnknownKinds.inc({ source: reader.label }, count);
  const malformed = page.faults.map(({ raw }) => identifyItem(raw)).filter((item) => item !== undefined);
  return { ...page, malformed };
}
