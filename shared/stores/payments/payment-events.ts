import type { Queryable } from '../../postgres/pool.ts';

/**
 * Records that the effect of an event is in this transaction. Waits for a concurrent transaction with the same event.
 *
 * @returns false when the effect was committed before
 */
export async function recordPaymentEvent(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query('INSERT INTO payment_events (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [id]);
  return rowCount === 1;
}

/** Of these events, those whose effect is committed. */
export async function findAppliedEvents(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM payment_events WHERE id = ANY ($1)', [ids]);
  return new Set(rows.map(({ id }) => id));
}
