import type { Queryable } from '../../postgres/pool.ts';

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

/** A gap, and for how long it has been known, in milliseconds. */
export type NoticedGap = CrawlGap & { ageMs: number };

/** Records gaps, all or none. Where the answer is lost they may be recorded twice, which is harmless. */
export async function openGaps(db: Queryable, gaps: readonly NoticedGap[]): Promise<void> {
  await db.query(
    `INSERT INTO crawl_gaps (source, reason, after_thing, before_thing, after_at, before_at, opened_at)
     SELECT source, reason, after_thing, before_thing, to_timestamp(after_ms / 1000), to_timestamp(before_ms / 1000),
            service_now() - make_interval(secs => age_ms / 1000)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::float8[], $7::float8[])
            AS gap (source, reason, after_thing, before_thing, after_ms, before_ms, age_ms)`,
    [
      gaps.map((gap) => gap.source),
      gaps.map((gap) => gap.reason),
      gaps.map((gap) => gap.afterThing ?? null),
      gaps.map((gap) => gap.beforeThing ?? null),
      gaps.map((gap) => gap.afterAt ?? null),
      gaps.map((gap) => gap.beforeAt ?? null),
      gaps.map((gap) => gap.ageMs),
    ],
  );
}
