import type { DigestPeriod } from '../../../schemas/api/monitors/monitor-options.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { isChanged, readRows } from '../../postgres/sql.ts';
import type { DigestRange } from './digest-matches.ts';

/** What a mail says of one monitor. */
export interface DigestSection extends DigestRange {
  period: DigestPeriod;
  /** Matches in the range when the digest was made. */
  count: number;
}

/**
 * Stores the digests of an account for mailing.
 *
 * @returns false, and stores nothing, while another mail of the account waits
 */
export async function insertDigestMail(
  db: Queryable,
  accountId: string,
  sections: readonly DigestSection[],
): Promise<boolean> {
  return isChanged(db)`
    INSERT INTO digest_mails (account_id, sections) VALUES (${accountId},
      ${JSON.stringify(sections)}) ON CONFLICT DO NOTHING`;
}

/** The names of monitors that are not deleted, by id. */
export async function readMonitorNames(db: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await readRows<{ id: string; name: string }>(db)`
    SELECT id, name FROM monitors WHERE id = ANY (${ids}::text[]) AND status <> 'deleted'`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}
