import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { readArchivedCandidates } from '../../../shared/stores/archive/archived-candidates.ts';
import { matchItemOf } from '../../../shared/stores/archive/archived-item.ts';
import type { ReadArchive } from './backfill-deps.ts';

/** Some megabytes, also with the long texts of posts; two parts of a run are held at a time. */
const PART = 1_000;

/** Reads the archive in ClickHouse. */
export function createReadArchive(clickhouse: ClickHouseClient): ReadArchive {
  return async (range, signal) => {
    const page = await readArchivedCandidates(clickhouse, { ...range, order: 'oldest', limit: PART, signal });
    const items = page.items.map((archived) => ({
      position: { firstSeenAt: archived.firstSeenAt, thingId: archived.content.thing_id },
      content: archived.content,
      item: matchItemOf(archived),
    }));
    return { items, next: page.next };
  };
}
