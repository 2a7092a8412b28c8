import type { SecretBox } from '../../domain/secret-box.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';

/**
 * Whether a key opens what is sealed in the database, by the webhook secret of the newest monitor; undefined while
 * nothing is sealed.
 */
export async function opensSealed(db: Queryable, box: SecretBox): Promise<boolean | undefined> {
  const rows = await readRows<{ id: string; sealed: Buffer }>(db)`
    SELECT id, webhook_secret AS sealed FROM monitors WHERE webhook_secret <> '' ORDER BY created_at DESC, id LIMIT 1`;
  const newest = rows[0];
  if (newest === undefined) return undefined;
  try {
    box.open(newest.sealed, newest.id);
    return true;
  } catch {
    return false;
  }
}
