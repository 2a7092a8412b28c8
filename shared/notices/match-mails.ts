import { inTransaction } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { execute, readOne, readRow } from '../postgres/sql.ts';
import type { SecretBox } from '../rules/secret-box.ts';
import type { DigestRange } from './due-digests.ts';

/** What a mail about new matches says. */
export interface MatchMailRange extends DigestRange {
  /** The matches in the range that are neither suppressed nor found by a backfill. */
  count: number;
}

/** Mails of all monitors of an account together in five minutes. */
const MAILS_PER_ACCOUNT = 5;

/**
 * Makes mails about what was recorded since the last one, for running monitors that had none in the last five minutes.
 * Of an account that may have fewer mails than such monitors, the one that waits longest comes first. It takes no
 * monitor's lock: a seq is committed after all smaller ones. It reads all monitors that wait for a match, which takes
 * 5 ms for each 1,000, so that recording a match costs nothing more. Run it in a transaction.
 *
 * @returns how many monitors had new matches, of which suppressed and backfilled ones make no mail
 */
export async function makeMatchMails(db: Queryable, limit: number): Promise<number> {
  // Two at once would not see what the other one makes for an account.
  const { isMine } = await readOne<{ isMine: boolean }>(db)`
    SELECT pg_try_advisory_xact_lock(hashtext('match mails')) AS "isMine"`;
  if (!isMine) return 0;
  return execute(db, 'match-mails-make')`
    WITH recent AS (
      SELECT account_id, count(*) AS mails FROM match_mails
      WHERE outcome IS NULL OR (outcome = 'sent' AND next_attempt_at > (SELECT service_now()))
      GROUP BY account_id
    ), ready AS MATERIALIZED (
      SELECT n.monitor_id, c.last_seq, coalesce(r.mails, 0)
        + row_number() OVER (PARTITION BY n.account_id ORDER BY n.next_attempt_at, n.monitor_id) AS place
      FROM match_mails n
      JOIN monitor_counters c ON c.monitor_id = n.monitor_id
      JOIN monitors m ON m.id = n.monitor_id
      JOIN accounts a ON a.id = n.account_id
      LEFT JOIN recent r ON r.account_id = n.account_id
      WHERE n.outcome IS NOT NULL AND n.next_attempt_at <= (SELECT service_now()) AND c.last_seq > n.after_seq
        AND m.notify = 'email' AND m.status = 'active' AND a.status = 'active'
    ), due AS MATERIALIZED (
      SELECT n.monitor_id, n.after_seq, ready.last_seq
      FROM ready JOIN match_mails n ON n.monitor_id = ready.monitor_id
      WHERE ready.place <= ${MAILS_PER_ACCOUNT} AND ready.last_seq > n.after_seq
        -- A biller of the version before takes no advisory lock.
        AND n.outcome IS NOT NULL AND n.next_attempt_at <= (SELECT service_now())
      LIMIT ${limit}
      FOR UPDATE OF n SKIP LOCKED
    ), counted AS (
      SELECT due.*, (SELECT count(*) FROM matches x
        WHERE x.monitor_id = due.monitor_id AND x.seq > due.after_seq AND x.seq <= due.last_seq
          AND NOT x.suppressed AND NOT x.backfill) AS count
      FROM due
    )
    UPDATE match_mails n
    SET after_seq = CASE count WHEN 0 THEN last_seq ELSE n.after_seq END, until_seq = last_seq, matches = count,
      outcome = CASE count WHEN 0 THEN n.outcome END, attempts = 0, made_at = service_now(),
      next_attempt_at = service_now()
    FROM counted
    WHERE n.monitor_id = counted.monitor_id`;
}

/** The name of a monitor whose matches are mailed now; undefined for one that is paused, or whose account is frozen. */
export async function readMailedMonitor(db: Queryable, id: string): Promise<{ name: string } | undefined> {
  return readRow<{ name: string }>(db)`
    SELECT m.name FROM monitors m JOIN accounts a ON a.id = m.account_id
    WHERE m.id = ${id} AND m.notify = 'email' AND m.status = 'active' AND a.status = 'active'`;
}

/** Ends the mails of a monitor, if it has them. What waits is not mailed. */
export async function stopMatchMails(pool: Pool, monitorId: string, why: 'bounced' | 'unsubscribed'): Promise<void> {
  await inTransaction(pool, async (client) => {
    await execute(client)`SELECT FROM monitor_counters WHERE monitor_id = ${monitorId} FOR UPDATE`;
    await execute(client)`
      UPDATE monitors SET notify = NULL, notify_stopped = ${why}, updated_at = service_now()
      WHERE id = ${monitorId} AND notify IS NOT NULL`;
  });
}

/** Where the links in these mails lead, below the dashboard. */
export const UNSUBSCRIBE_PATH = '/unsubscribe';
const LINK = 'link that ends mails about matches';

/** A link names its monitor under a seal: nobody can make one, and nothing is stored for it. It works for ever. */
export function unsubscribeUrl(dashboard: string, box: Pick<SecretBox, 'seal'>, monitorId: string): string {
  return `${dashboard}${UNSUBSCRIBE_PATH}?link=${box.seal(monitorId, LINK).toString('base64url')}`;
}

/** @param link the query's `link`; undefined is returned when it is no link of this installation */
export function monitorOfLink(box: Pick<SecretBox, 'open'>, link: unknown): string | undefined {
  if (typeof link !== 'string') return undefined;
  try {
    return box.open(Buffer.from(link, 'base64url'), LINK);
  } catch {
    return undefined;
  }
}
