import type { Queryable } from '../../postgres/pool.ts';
import { isChanged, readRows } from '../../postgres/sql.ts';
import { contextOfAnswer } from '../accounts/idempotency-keys.ts';
import { contextOfRecord } from '../accounts/sealed-records.ts';

/** One sealed value of a row. */
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

type MonitorSecret = 'webhook_secret' | 'previous_webhook_secret';

const REPLACE_MONITOR_SECRET: Record<MonitorSecret, string> = {
  webhook_secret: 'UPDATE monitors SET webhook_secret = $3 WHERE id = $1 AND webhook_secret = $2',
  previous_webhook_secret:
    'UPDATE monitors SET previous_webhook_secret = $3 WHERE id = $1 AND previous_webhook_secret = $2',
};
const READ_MONITOR_SECRET: Record<MonitorSecret, string> = {
  webhook_secret: `SELECT id, webhook_secret AS sealed FROM monitors
     WHERE id > $1 AND webhook_secret <> '' ORDER BY id LIMIT $2`,
  previous_webhook_secret: `SELECT id, previous_webhook_secret AS sealed FROM monitors
     WHERE id > $1 AND previous_webhook_secret IS NOT NULL ORDER BY id LIMIT $2`,
};

/** Everything in Postgres that is sealed with the installation's secret key. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  monitorSecret('webhook_secret'),
  monitorSecret('previous_webhook_secret'),
  {
    name: 'oauth_records.payload',
    async page(db, after = Buffer.alloc(0), limit) {
      const rows = await readRows<{ idHash: Buffer; model: string; sealed: Buffer }>(db)`
        SELECT id_hash AS "idHash", model, payload AS sealed FROM oauth_records
        WHERE id_hash > ${after} ORDER BY id_hash LIMIT ${limit}`;
      const values = rows.map(({ idHash, model, sealed }) => ({
        context: contextOfRecord(model, idHash),
        sealed,
        replace: replacing('UPDATE oauth_records SET payload = $3 WHERE id_hash = $1 AND payload = $2', idHash, sealed),
      }));
      return { values, last: rows.at(-1)?.idHash };
    },
  },
  {
    name: 'idempotency_keys.answer',
    async page(db, after = ['', '', ''], limit) {
      const { rows } = await db.query<{ accountId: string; route: string; key: string; answer: Buffer }>(
        `SELECT account_id AS "accountId", route, key, answer FROM idempotency_keys
          WHERE (account_id, route, key) > ($1, $2, $3) ORDER BY account_id, route, key LIMIT $4`,
        [...(after as string[]), limit],
      );
      const values = rows.map(({ answer, ...id }) => ({
        context: contextOfAnswer(id),
        sealed: answer,
        replace: async (on: Queryable, sealed: Buffer) => {
          return isChanged(on)`
            UPDATE idempotency_keys SET answer = ${sealed}
            WHERE account_id = ${id.accountId} AND route = ${id.route} AND key = ${id.key} AND answer = ${answer}`;
        },
      }));
      const last = rows.at(-1);
      return { values, last: last && [last.accountId, last.route, last.key] };
    },
  },
];

function monitorSecret(column: MonitorSecret): SealedColumn {
  return {
    name: `monitors.${column}`,
    async page(db, after = '', limit) {
      const { rows } = await db.query<{ id: string; sealed: Buffer }>(READ_MONITOR_SECRET[column], [after, limit]);
      const values = rows.map(({ id, sealed }) => ({
        context: id,
        sealed,
        replace: replacing(REPLACE_MONITOR_SECRET[column], id, sealed),
      }));
      return { values, last: rows.at(-1)?.id };
    },
  };
}

/** Each row by its own statement, so that it never holds one lock while it waits for another. */
function replacing(statement: string, id: unknown, old: Buffer): SealedValue['replace'] {
  return async (db, sealed) => {
    const { rowCount } = await db.query(statement, [id, old, sealed]);
    return rowCount === 1;
  };
}
