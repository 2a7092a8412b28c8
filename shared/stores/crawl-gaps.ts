import type { Queryable } from '../postgres/pool.ts';

export interface CrawlGap {
  source: string;
  reason: string;
  /** Fullname of the newest thing seen before the gap, where known. */
  afterThing: string | undefined;
  /** Fullname of the oldest thing seen after the gap, where known. */
  beforeThing: string | undefined;
}

/** Records a stretch that a source may have missed. A crash before the source's next checkpoint can record it twice. */
export async function openGap(db: Queryable, gap: CrawlGap): Promise<void> {
  await db.query(
    `INSERT INTO crawl_gaps (source, reason, after_thing, before_thing, opened_at)
     VALUES ($1, $2, $3, $4, service_now())`,
    [gap.source, gap.reason, gap.afterThing ?? null, gap.beforeThing ?? null],
  );
}
