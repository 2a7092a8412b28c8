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

/** Deletes at most `limit` events that were seen more than `days` days ago; returns how many. */
export async function deleteExpiredPaymentEvents(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM payment_events
     WHERE id IN (
       SELECT id FROM payment_events
       WHERE seen_at < (SELECT service_now()) - make_interval(days => $1)
       ORDER BY seen_at
       LIMIT $2
     )`,
    [days, limit],
  );
  return rowCount ?? 0;
}
