import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { ParsedListing } from '../../shared/upstream/parsing/parse-things.ts';
import { parseListing } from '../../shared/upstream/parsing/parse-things.ts';
import type { CrawlSource } from './crawl-source.ts';

export interface ThingReader {
  metrics: Metrics;
  logger: Logger;
  label: CrawlSource['label'];
  endpoint: string;
}

/**
 * Parses the things of a listing. An item of unknown shape must not stop the others: it is skipped, counted as a call
 * with outcome `shape`, and logged with its path. Unknown kinds are counted.
 *
 * @throws UpstreamError when the listing itself has an unknown shape.
 */
export function readThings(body: unknown, reader: ThingReader): ParsedListing {
  const page = parseListing(body);
  for (const fault of page.faults) {
    reader.metrics.upstreamRequests.inc({ endpoint: reader.endpoint, outcome: 'shape' });
    reader.logger.error({ endpoint: reader.endpoint, ...fault }, 'an item of an unknown shape was skipped');
  }
  for (const [, count] of page.unknownKinds) reader.metrics.crawlerUnknownKinds.inc({ source: reader.label }, count);
  return page;
}
