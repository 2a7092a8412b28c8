import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRow, readRows, sql } from '../postgres/sql.ts';
import type { StoredAccount } from './accounts.ts';
import { takeUse } from './sliding-log-limits.ts';
import type { SlidingLogLimit } from './sliding-log-limits.ts';

export interface StoredDashboardSession {
  /** Names the session; not a secret. */
  id: string;
  accountId: string;
  /** The /24 or /64 of the sign-in. */
  network: string;
  userAgent: string;
  createdAt: Date;
  /** To the minute. */
  lastSeenAt: Date;
  expiresAt: Date;
}

const COLUMNS = sql`id, account_id AS "accountId", network, user_agent AS "userAgent", created_at AS "createdAt",
  last_seen_at AS "lastSeenAt", expires_at AS "expiresAt"`;

/**
 * Waits for a change of the address that is under way; a later change finds the session and ends it.
 *
 * @returns false when the account is not active or has another address by now
 */
export async function insertDashboardSession(
  db: Queryable,
  session: {
    tokenHash: Uint8Array;
    id: string;
    accountId: string;
    email: string;
    network: string;
    userAgent: string;
    validSeconds: number;
  },
): Promise<boolean> {
  const { tokenHash, id, accountId, email, network, userAgent, validSeconds } = session;
  return isChanged(db)`
    INSERT INTO dashboard_sessions (token_hash, id, account_id, network, user_agent, expires_at)
    SELECT ${tokenHash}::bytea, ${id}, id, ${network}, ${userAgent},
      service_now() + make_interval(secs => ${validSeconds})
    FROM accounts
    WHERE id = ${accountId} AND email = ${email} AND status = 'active'
    FOR KEY SHARE`;
}

/**
 * Takes one use of a session's limit of this name, and notes to the minute that it is in use. A session that was ended
 * or has expired, or whose account is frozen or deleted, is not found. `retryAfter`: 0, or the seconds until it may
 * make a request again, rounded up.
 */
export async function admitDashboardRequest(
  db: Queryable,
  tokenHash: Uint8Array,
  limit: SlidingLogLimit,
): Promise<{ session: StoredDashboardSession; account: StoredAccount; retryAfter: number } | undefined> {
  const row = await readRow<AdmittedRow>(db, 'admit-dashboard-request')`
    WITH found AS MATERIALIZED (
      SELECT s.id, s.account_id AS "accountId", s.network, s.user_agent AS "userAgent", s.created_at AS "createdAt",
        s.last_seen_at AS "lastSeenAt", s.expires_at AS "expiresAt", a.email, a.mailbox, a.status, a.pack, a.balance,
        a.owed, a.created_at AS "openedAt"
      FROM dashboard_sessions s
      JOIN accounts a ON a.id = s.account_id
      WHERE s.token_hash = ${tokenHash} AND s.ended_at IS NULL AND s.expires_at > (SELECT service_now()) AND a.status = 'active'
    ), touched AS (
      UPDATE dashboard_sessions SET last_seen_at = service_now()
      WHERE token_hash = ${tokenHash} AND id IN (SELECT id FROM found)
        AND last_seen_at < (SELECT service_now()) - interval '1 minute'
    )
    SELECT * FROM found`;
  if (row === undefined) return undefined;
  const { id, accountId, network, userAgent, createdAt, lastSeenAt, expiresAt, openedAt, ...account } = row;
  return {
    session: { id, accountId, network, userAgent, createdAt, lastSeenAt, expiresAt },
    account: { ...account, id: accountId, createdAt: openedAt },
    retryAfter: await takeUse(db, { ...limit, name: `${limit.name}:${id}` }),
  };
}

type AdmittedRow = StoredDashboardSession & Omit<StoredAccount, 'id' | 'createdAt'> & { openedAt: Date };

export async function isDashboardSessionValid(db: Queryable, id: string): Promise<boolean> {
  return isChanged(db)`
    SELECT FROM dashboard_sessions s
    JOIN accounts a ON a.id = s.account_id
    WHERE s.id = ${id} AND s.ended_at IS NULL AND s.expires_at > (SELECT service_now()) AND a.status = 'active'`;
}

export async function listDashboardSessions(db: Queryable, accountId: string): Promise<StoredDashboardSession[]> {
  return readRows<StoredDashboardSession>(db)`
    SELECT ${COLUMNS} FROM dashboard_sessions
    WHERE account_id = ${accountId} AND ended_at IS NULL AND expires_at > (SELECT service_now())
    ORDER BY last_seen_at DESC, id`;
}

/** Whether the account had a session from this network while its rows are kept. */
export async function isKnownNetwork(db: Queryable, accountId: string, network: string): Promise<boolean> {
  return isChanged(db)`SELECT FROM dashboard_sessions WHERE account_id = ${accountId} AND network = ${network} LIMIT 1`;
}

/** Returns false when the account has no such valid session. */
export async function endDashboardSession(db: Queryable, accountId: string, id: string): Promise<boolean> {
  return isChanged(db)`
    UPDATE dashboard_sessions SET ended_at = service_now()
    WHERE account_id = ${accountId} AND id = ${id} AND ended_at IS NULL`;
}

export async function endDashboardSessionOfCookie(db: Queryable, tokenHash: Uint8Array): Promise<void> {
  await execute(db)`
    UPDATE dashboard_sessions SET ended_at = service_now() WHERE token_hash = ${tokenHash} AND ended_at IS NULL`;
}

/** All of them when `keptId` is undefined. Returns how many. */
export async function endOtherDashboardSessions(
  db: Queryable,
  accountId: string,
  keptId: string | undefined,
): Promise<number> {
  return execute(db)`
    UPDATE dashboard_sessions SET ended_at = service_now()
    WHERE account_id = ${accountId} AND id IS DISTINCT FROM ${keptId ?? null} AND ended_at IS NULL`;
}

/** Ends those beyond the `kept` that were used last. Returns how many. */
export async function endLeastUsedDashboardSessions(db: Queryable, accountId: string, kept: number): Promise<number> {
  return execute(db)`
    UPDATE dashboard_sessions SET ended_at = service_now()
    WHERE ended_at IS NULL AND id IN (
      SELECT id FROM dashboard_sessions
      WHERE account_id = ${accountId} AND ended_at IS NULL AND expires_at > (SELECT service_now())
      ORDER BY last_seen_at DESC, created_at DESC, id
      OFFSET ${kept}
    )`;
}
