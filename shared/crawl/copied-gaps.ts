import type { Queryable } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';
import type { GapOutcome } from './crawl-gaps.ts';

export interface CopiedGap {
  id: number;
  source: string;
  reason: string;
  openedAt: Date;
  createdFrom: Date | null;
  createdTo: Date | null;
  afterThing: string | null;
  beforeThing: string | null;
  /** null: any. */
  communities: string[] | null;
  found: number;
  closedAt: Date | null;
  outcome: GapOutcome | null;
}

/** A page in the order of the ids. */
export interface GapCopyPage {
  /** The last id of the page before; 0: from the beginning. */
  after: number;
  limit: number;
  /** Whether only gaps that were opened or closed in the last minutes are read. */
  isRecent: boolean;
}

/** Reads a page of the gaps of the last 90 days. Two indexes serve recent ones. */
export async function readGapsToCopy(db: Queryable, page: GapCopyPage): Promise<CopiedGap[]> {
  return readRows<CopiedGap>(db)`
    SELECT id, source, reason, opened_at AS "openedAt", after_at AS "createdFrom", before_at AS "createdTo",
           after_thing AS "afterThing", before_thing AS "beforeThing", communities, found,
           filled_at AS "closedAt", outcome
      FROM crawl_gaps
     WHERE id > ${page.after}
       AND opened_at > (SELECT service_now()) - interval '90 days'
       AND (NOT ${page.isRecent} OR opened_at > (SELECT service_now()) - interval '3 minutes'
                   OR filled_at > (SELECT service_now()) - interval '3 minutes')
     ORDER BY id
     LIMIT ${page.limit}`;
}
