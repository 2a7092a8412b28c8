import type { Queryable } from '../postgres/pool.ts';

/** A stretch that a source may have missed: what it lists after `afterThing` and before `beforeThing`. */
export interface CrawlGap {
  source: string;
  reason: string;
  /** Fullname of the newest thing seen before the gap, where known. */
  afterThing: string | undefined;
  /** Creation of the oldest thing that may be missing, at the earliest; milliseconds since 1970. */
  afterAt: number | undefined;
  /** Fullname of the oldest thing seen after the gap, where known. */
  beforeThing: string | undefined;
  /** Creation of the newest thing that may be missing, at the latest; milliseconds since 1970. */
  beforeAt: number | undefined;
}

/** Records a gap. A crash before the source's next checkpoint can record it twice. */
export async function openGap(db: Queryable, gap: CrawlGap): Promise<void> {
  await db.query(
    `INSERT INTO crawl_gaps (source, reason, after_thing, before_thing, after_at, before_at, opened_at)
     VALUES ($1, $2, $3, $4, to_timestamp($5::float8 / 1000), to_timestamp($6::float8 / 1000), service_now())`,
    [
      gap.source,
      gap.reason,
      gap.afterThing ?? null,
      gap.beforeThing ?? null,
      gap.afterAt ?? null,
      gap.beforeAt ?? null,
    ],
  );
}
