import type { Pool } from '../../shared/postgres/pool.ts';
import { eventually } from './eventually.ts';

/**
 * Lets all pending deliveries of a test's database live to their end, from one due time to the next: whenever all that is due
 * has been attempted, the clock, which stands still, moves on to the very moment of the next attempt. So an attempt that
 * ended at another moment than it was due was made too early or too late.
 *
 * @param afterStep called each time when nothing is due any more, before the clock moves, with how often it has moved
 */
export async function passDeliveryTime(pool: Pool, afterStep: (moves: number) => Promise<void>): Promise<void> {
  for (let moves = 0; ; moves++) {
    await eventually('all that is due has been attempted', async () => {
      const { rows } = await pool.query<{ due: number }>(
        `SELECT count(*)::int AS due FROM matches
         WHERE delivery_status = 'pending' AND next_attempt_at <= (SELECT service_now())`,
      );
      return rows[0]!.due === 0;
    });
    await afterStep(moves);
    const { rowCount } = await pool.query(
      `UPDATE service_clock SET frozen_at = next.at
       FROM (SELECT min(next_attempt_at) AS at FROM matches WHERE delivery_status = 'pending') AS next
       WHERE next.at IS NOT NULL`,
    );
    if (rowCount === 0) return;
  }
}
