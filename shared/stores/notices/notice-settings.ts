import { NOTICE_KINDS } from '../../domain/notice-kinds.ts';
import type { NoticeKind } from '../../domain/notice-kinds.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';

/** The kinds of notices that an account has switched off, in the order of NOTICE_KINDS. */
export async function readSwitchedOff(db: Queryable, accountId: string): Promise<NoticeKind[]> {
  const rows = await readRows<{ kind: string }>(db)`SELECT kind FROM notice_opt_outs WHERE account_id = ${accountId}`;
  const kinds = new Set(rows.map(({ kind }) => kind));
  return NOTICE_KINDS.filter((kind) => kinds.has(kind));
}

/** Switches off exactly these kinds, and all others on. Without effect on a deleted account. */
export async function switchOffNotices(db: Queryable, accountId: string, kinds: readonly NoticeKind[]): Promise<void> {
  await db.query(
    `WITH chosen AS (
       SELECT unnest($2::text[]) AS kind
     ), switched_on AS (
       DELETE FROM notice_opt_outs WHERE account_id = $1 AND kind NOT IN (SELECT kind FROM chosen)
     )
     INSERT INTO notice_opt_outs (account_id, kind)
     SELECT a.id, chosen.kind FROM accounts a, chosen WHERE a.id = $1 AND a.status <> 'deleted'
     ON CONFLICT DO NOTHING`,
    [accountId, kinds],
  );
}
