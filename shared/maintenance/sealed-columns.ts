import type { Queryable } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';
import { contextOfResponse } from '../accounts/idempotency-keys.ts';
import { contextOfRecord } from '../accounts/sealed-records.ts';

export interface SealedValue {
  /** What it was sealed for. */
  context: string;
  sealed: Buffer;
  /** Replaces it, unless it was changed since it was read. @returns whether it did */
  replace(db: Queryable, sealed: Buffer): Promise<boolean>;
}

/** A column that holds sealed values, read in pages by the primary key. */
export interface SealedColumn {
  name: string;
  /** The next values; an empty page is the end. @param after the `last` of the page before; undefined at first */
  page(db: Queryable, after: unknown, limit: number): Promise<{ values: SealedValue[]; last: unknown }>;
}

/** Everything in Postgres that is sealed with the installation's secret key. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  sealedColumn<{ id: string }>('monitors', 'webhook_secret', ['id'], ({ id }) => id),
  sealedColumn<{ id: string }>('monitors', 'previous_webhook_secret', ['id'], ({ id }) => id),
  sealedColumn<{ id_hash: Buffer; model: string }>('oauth_records', 'payload', ['id_hash'], (row) =>
    contextOfRecord(row.model, row.id_hash),
  ),
  sealedColumn<{ account_id: string; route: string; key: string }>(
    'idempotency_keys',
    'answer',
    ['account_id', 'route', 'key'],
    ({ account_id: accountId, route, key }) => contextOfResponse({ accountId, route, key }),
  ),
];

/** @param key columns of the primary key, which are texts or bytea */
function sealedColumn<Row extends object>(
  table: string,
  column: string,
  key: readonly (keyof Row & string)[],
  contextOf: (row: Row) => string,
): SealedColumn {
  const parameters = (from: number) => key.map((_, index) => `$${from + index}`).join(', ');
  const keys = key.join(', ');
  return {
    name: `${table}.${column}`,
    async page(db, after, limit) {
      const { rows } = await db.query<Row & { sealed: Buffer }>(
        `SELECT *, ${column} AS sealed FROM ${table}
          WHERE ($1 OR (${keys}) > (${parameters(3)})) AND ${column} <> '' ORDER BY ${keys} LIMIT $2`,
        [after === undefined, limit, ...((after as unknown[] | undefined) ?? key.map(() => ''))],
      );
      // Each row by its own statement, so that it never holds one lock while it waits for another.
      const values = rows.map((row) => ({
        context: contextOf(row),
        sealed: row.sealed,
        async replace(on: Queryable, sealed: Buffer) {
          const { rowCount } = await on.query(
            `UPDATE ${table} SET ${column} = $1 WHERE ${column} = $2 AND (${keys}) = (${parameters(3)})`,
            [sealed, row.sealed, ...key.map((name) => row[name])],
          );
          return rowCount === 1;
        },
      }));
      const last = rows.at(-1);
      return { values, last: last && key.map((name) => last[name]) };
    },
  };
}

/** Those of deleted accounts are not known. */
export async function readMailboxes(
  db: Queryable,
  afterId: string,
  limit: number,
): Promise<{ id: string; mailbox: string }[]> {
  return readRows<{ id: string; mailbox: string }>(db)`
    SELECT id, mailbox FROM accounts WHERE id > ${afterId} AND status <> 'deleted' ORDER BY id LIMIT ${limit}`;
}

/** Records mailboxes that had their free credits under the hash of another key, too. Returns how many were added. */
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
