import type { DigestPeriod } from '../../../schemas/api/monitors/monitor-options.ts';
import type { Queryable } from '../../postgres/pool.ts';
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
  const { rowCount } = await db.query(
    'INSERT INTO digest_mails (account_id, sections) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [accountId, JSON.stringify(sections)],
  );
  return rowCount === 1;
}

/** The names of monitors that are not deleted, by id. */
export async function readMonitorNames(db: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; name: string }>(
    `SELECT id, name FROM monitors WHERE id = ANY ($1::text[]) AND status <> 'deleted'`,
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
