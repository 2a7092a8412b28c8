import { commitLocally, inTransaction } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { execute, readRow, readRows } from '../postgres/sql.ts';
import { credit } from './ledger.ts';
import type { ChargeKind, LedgerMove } from './ledger.ts';

/** A charge whose commit got no answer, by its key in the ledger. */
export type UnknownCharge = Pick<LedgerMove<ChargeKind>, 'accountId' | 'kind' | 'reference'>;

/** Notes charges for `reverseCharge`; repeating it is harmless. Like a charge, it waits for no standby. */
export async function noteUnknownCharges(db: Queryable, charges: readonly UnknownCharge[]): Promise<void> {
  await execute(db)`
    WITH local_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'local', true))
    INSERT INTO unknown_charges (account_id, kind, reference)
    SELECT asked.* FROM unnest(${charges.map(({ accountId }) => accountId)}::text[],
      ${charges.map(({ kind }) => kind)}::text[], ${charges.map(({ reference }) => reference)}::text[]) AS asked,
      local_commit
    ON CONFLICT DO NOTHING`;
}

/**
 * Reverses at most `limit` noted charges that took effect, each once and in a transaction of its own, however many
 * processes do.
 *
 * @returns those that this call reversed
 */
export async function reverseUnknownCharges(pool: Pool, limit: number): Promise<UnknownCharge[]> {
  const rows = await readRows<UnknownCharge>(pool)`
    SELECT account_id AS "accountId", kind, reference
    FROM unknown_charges JOIN ledger_entries USING (account_id, kind, reference)
    ORDER BY noted_at
    LIMIT ${limit}`;
  const reversed: UnknownCharge[] = [];
  for (const charge of rows) {
    if (await inTransaction(pool, (client) => reverseCharge(client, charge))) reversed.push(charge);
  }
  return reversed;
}

/**
 * Gives back what a noted charge took, by one entry of kind `reversal` with its reference and request. Call it in a
 * transaction: whoever deletes the note reverses the charge, and nobody else does.
 *
 * @returns false when it was reversed before
 */
async function reverseCharge(db: Queryable, { accountId, kind, reference }: UnknownCharge): Promise<boolean> {
  await commitLocally(db);
  const taken = await readRow<TakenNote>(db)`
    DELETE FROM unknown_charges noted USING ledger_entries e
    WHERE noted.account_id = ${accountId} AND noted.kind = ${kind} AND noted.reference = ${reference}
      AND e.account_id = noted.account_id AND e.kind = noted.kind AND e.reference = noted.reference
    RETURNING -e.amount AS credits, e.request_id AS "requestId", e.route, e.key_id AS "keyId",
      EXISTS (
        SELECT FROM ledger_entries r
        WHERE r.account_id = ${accountId} AND r.kind = 'reversal' AND r.reference = ${reference}
      ) AS "isReversed"`;
  // A note may be written again after the reversal: its own commit got no answer either.
  if (taken === undefined || taken.isReversed) return false;
  const { credits, requestId, route, keyId } = taken;
  const request = requestId === null || route === null ? undefined : { requestId, route, keyId: keyId ?? undefined };
  await credit(db, { accountId, kind: 'reversal', credits, reference, request });
  // Take it out of the usage of its day. The account is locked.
  await execute(db)`
    UPDATE usage_days counted SET charges = counted.charges - 1, credits = counted.credits + e.amount
    FROM ledger_entries e
    WHERE e.account_id = ${accountId} AND e.kind = ${kind} AND e.reference = ${reference}
      AND counted.account_id = e.account_id AND counted.day = (e.created_at AT TIME ZONE 'UTC')::date
      AND counted.route = coalesce(e.route, '') AND counted.key_id = coalesce(e.key_id, '')`;
  return true;
}

interface TakenNote {
  credits: number;
  requestId: string | null;
  route: string | null;
  keyId: string | null;
  isReversed: boolean;
}
