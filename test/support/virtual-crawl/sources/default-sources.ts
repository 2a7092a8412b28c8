import { SLICES } from '../../../../services/crawler/groups/group-source.ts';
import { ALL_COMMENTS } from '../../../../services/crawler/listing-source.ts';
import type { BuildSource } from '../virtual-crawl.ts';
import { VirtualAudit } from './audit.ts';
import { VirtualGroups, VirtualListing } from './listings.ts';
import { VirtualPostIds } from './post-ids.ts';
import { VirtualRechecks, VirtualThreads } from './threads.ts';

/** The sources that the default of CRAWL_SOURCES names. */
export const DEFAULT_SOURCES: readonly BuildSource[] = [
  (context) => new VirtualPostIds(context),
  (context) => new VirtualListing(ALL_COMMENTS, context),
  ...Array.from(
    { length: SLICES },
    (_, slice): BuildSource =>
      (context) =>
        new VirtualGroups(slice, context),
  ),
  (context) => new VirtualThreads(context),
  (context) => new VirtualAudit(context),
  (context) => new VirtualRechecks(context),
];
