import type { Queryable } from '../../postgres/pool.ts';

/** What a source may have missed: the things that it lists after `afterThing` and before `beforeThing`. */
export interface CrawlGap {
  source: string;
  reason: string;
  /** Fullname of the newest thing seen before the gap, if known. */
  afterThing: string | undefined;
  /** Earliest creation time of a missing thing; milliseconds since 1970. */
  afterAt: number | undefined;
  /** Fullname of the oldest thing seen after the gap, if known. */
  beforeThing: string | undefined;
  /** Latest creation time of a missing thing; milliseconds since 1970. */
  beforeAt: number | undefined;
}

/** A gap, and how long it has been known, in milliseconds. */
export type NoticedGap = CrawlGap & { ageMs: number };

/** Records gaps, all or none. If the answer is lost, the caller may record them twice, which is harmless. */
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
