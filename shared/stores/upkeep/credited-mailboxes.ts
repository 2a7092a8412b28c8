import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';

/** The mailboxes of the next `limit` accounts after an id; those of deleted accounts are not known. */
export async function readMailboxes(
  db: Queryable,
  afterId: string,
  limit: number,
): Promise<{ id: string; mailbox: string }[]> {
  return readRows<{ id: string; mailbox: string }>(db)`
    SELECT id, mailbox FROM accounts WHERE id > ${afterId} AND status <> 'deleted' ORDER BY id LIMIT ${limit}`;
}

/**
 * Records mailboxes that had their free credits under the hash of another key, too.
 *
 * @returns how many were added
 */
export async function copyCreditedMailboxes(
  db: Queryable,
  hashes: readonly { former: Buffer; present: Buffer }[],
): Promise<number> {
  const { rowCount } = await db.query(
    `INSERT INTO credited_mailboxes (mailbox_hash)
     SELECT present FROM unnest($1::bytea[], $2::bytea[]) AS hash (former, present)
      WHERE former IN (SELECT mailbox_hash FROM credited_mailboxes WHERE mailbox_hash = ANY ($1::bytea[]))
      ORDER BY present
     ON CONFLICT DO NOTHING`,
    [hashes.map(({ former }) => former), hashes.map(({ present }) => present)],
  );
  return rowCount ?? 0;
}
