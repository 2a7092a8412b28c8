import type { Thing } from '../../shared/forum-client/thing-schema.ts';
import { fullnameOf } from '../../shared/forum-client/thing-schema.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { ParsedListing } from '../../shared/forum-client/parse-things.ts';
import { parseListing } from '../../shared/forum-client/parse-things.ts';
import type { UnreadableThing } from '../../shared/forum-client/thing-letter.ts';
import { identifyThing } from '../../shared/forum-client/thing-letter.ts';
import type { CrawlSource } from './crawl-source.ts';

/** What the decisions of a source need to know of a thing. */
export interface Listed {
  /** Fullname. */
  name: string;
  /** Milliseconds since 1970, as the forum dates it, but never in the future. */
  createdAt: number;
}

/** `seenAt` in milliseconds since 1970: a date in the future would move the bounds of a gap. */
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
  /** What `Fetched` needs to keep the things of unknown shape. */
  unreadable: UnreadableThing[];
}

/**
 * Parses the things of a listing. An item of unknown shape must not stop the others: it is counted as a call with
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
  const unreadable = page.faults.map(({ raw }) => identifyThing(raw)).filter((thing) => thing !== undefined);
  return { ...page, unreadable };
}
