import type { Queryable } from '../../postgres/pool.ts';
import { isChanged, readRows } from '../../postgres/sql.ts';

/**
 * Records that the effect of an event is in this transaction. Waits for a concurrent transaction with the same event.
 *
 * @returns false when the effect was committed before
 */
export async function recordPaymentEvent(db: Queryable, id: string): Promise<boolean> {
  return isChanged(db)`INSERT INTO payment_events (id) VALUES (${id}) ON CONFLICT (id) DO NOTHING`;
}

/** Of these events, those whose effect is committed. */
export async function findAppliedEvents(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const rows = await readRows<{ id: string }>(db)`SELECT id FROM payment_events WHERE id = ANY (${ids})`;
  return new Set(rows.map(({ id }) => id));
}
