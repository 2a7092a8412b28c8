import type { Plan } from '../billing/rules/plans.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute } from '../postgres/sql.ts';
import { takeUse } from './sliding-log-limits.ts';

/** The credential of a request: an API key or an access token. */
export type RequestCredentials =
  | {
      /** Public id of the key. */
      keyId: string;
      /** SHA-256 of the whole key. */
      keyHash: Buffer;
    }
  | {
      /** SHA-256 of the token. */
      tokenHash: Buffer;
      /** The resource where it is used; tokens for other audiences are unknown. */
      audience: string;
    };

/** The request limits of a plan. The statement counts in whole milliseconds. */
export type RequestLimits = Pick<Plan, 'requestsPerSecond' | 'burst' | 'requestsPerDay'>;

/** The account is frozen; the request took no slot. */
export interface FrozenRequest {
  status: 'frozen';
}

/** A request with a valid key or token, and whether the limits of its account admit it. */
export interface AdmittedRequest {
  status: 'active';
  /** null for an access token. */
  keyId: string | null;
  /** Hash of the key or the token. */
  keyHash: Buffer;
  scopes: string[];
  accountId: string;
  /** Credits. */
  balance: number;
  /** Price in dollars of the account's largest pack; 0 when none. */
  pack: number;
  /** Position among the account's requests of this call, from 1. */
  ordinal: number;
  /** How many of the account's requests of this call are admitted; the first ones are. */
  taken: number;
  /** Milliseconds until the full burst is available again, before this call. */
  wholeInMs: number;
  /** UTC date, YYYY-MM-DD. `dayUsed`: requests of that day before this call. */
  day: string;
  dayUsed: number;
  /** Milliseconds until the day ends. */
  dayLeftMs: number;
}

/**
 * Looks up the keys and tokens of requests and takes the rate slot and the daily slot of each, in one statement. Limits
 * are exact across processes, because an account's row is locked before it is read. A key or token that is unknown,
 * revoked or of an inactive account takes no slot.
 *
 * Rates follow the generic cell rate algorithm (ITU-T I.371): of an account only the time is stored at which its full
 * burst is available again. The commit does not wait for the disk: if the server crashes, a few slots of its last
 * moments are free again.
 *
 * @param limits the limits of each pack, by its price
 * @returns for each request, in order, its account and limits, or that the account is frozen; undefined when its key or
 * token is not valid
 */
export async function admitRequests(
  db: Queryable,
  requests: readonly RequestCredentials[],
  limits: ReadonlyMap<number, RequestLimits>,
): Promise<(AdmittedRequest | FrozenRequest | undefined)[]> {
  const plans = [...limits.values()];
  const hasTokens = requests.some((request) => 'tokenHash' in request);
  const { rows } = await db.query<(AdmittedRequest | FrozenRequest) & { number: number }>({
    ...(hasTokens ? ADMIT_KEYS_AND_TOKENS : ADMIT_KEYS),
    values: [
      requests.map((request) => ('keyId' in request ? request.keyId : null)),
      requests.map((request) => ('keyId' in request ? request.keyHash : request.tokenHash)),
      [...limits.keys()],
      plans.map(({ requestsPerSecond }) => 1000 / requestsPerSecond),
      plans.map(({ burst }) => burst),
      plans.map(({ requestsPerDay }) => requestsPerDay),
      ...(hasTokens ? [requests.map((request) => ('keyId' in request ? null : request.audience))] : []),
    ],
  });
  const found = new Map(rows.map((row) => [row.number, row]));
  return requests.map((_, index) => found.get(index + 1));
}

// Steps: 1. find the keys and tokens; 2. lock the accounts' limits in the order of their ids, and read the time after
// all locks; 3. decide how many requests each account may make; 4. store the limits, and the last use of keys and
// grants. Last uses locked by others are skipped, so that nothing waits for them. A stored time too far in the future,
// left by a clock that was set back, counts as one request just now; a stored day in the future counts as tomorrow at
// the latest.
// The arrays are read by a subquery, so that PostgreSQL expects the same number of rows whatever they hold: else it
// would make a plan for each execution.

const FIND_KEYS = `
    SELECT asked.number, k.id AS key_id, k.hash AS key_hash, k.scopes, k.last_used_at, NULL::bytea AS grant_hash, k.account_id, a.balance, a.pack, a.status
    FROM asked
    JOIN api_keys k ON k.id = asked.key_id AND k.hash = asked.key_hash
    JOIN accounts a ON a.id = k.account_id
    WHERE k.revoked_at IS NULL AND a.status <> 'deleted'`;

const FIND_TOKENS = `
    SELECT asked.number, NULL, t.id_hash, t.scopes, g.last_used_at, g.id_hash, t.account_id, a.balance, a.pack, a.status
    FROM asked
    JOIN oauth_records t ON t.id_hash = asked.key_hash AND t.audience = asked.audience
    JOIN oauth_records g ON g.id_hash = t.grant_hash
    JOIN accounts a ON a.id = t.account_id
    WHERE t.model = 'AccessToken' AND t.expires_at > (SELECT service_now())
      AND g.model = 'Grant' AND g.expires_at > (SELECT service_now()) AND a.status <> 'deleted'`;

const GRANT = `
  plan AS (
    SELECT * FROM unnest($3::integer[], $4::integer[], $5::integer[], $6::integer[]) AS plan (pack, every_ms, burst, per_day)
  ), demand AS (
    SELECT account_id, pack, count(*)::integer AS requests FROM known WHERE status = 'active' GROUP BY account_id, pack
  ), locked AS MATERIALIZED (
    SELECT account_id, burst_whole_at, day, day_requests
    FROM account_limits
    WHERE account_id IN (SELECT account_id FROM demand)
    ORDER BY account_id
    FOR UPDATE
  ), moment AS MATERIALIZED (
    SELECT service_now() AS now FROM (SELECT count(*) FROM locked) AS all_locks
  ), limit_state AS (
    SELECT account_id, now, burst_whole_at, today.day, CASE WHEN locked.day = today.day THEN day_requests ELSE 0 END AS day_used
    FROM locked
    CROSS JOIN moment
    CROSS JOIN LATERAL (SELECT (now AT TIME ZONE 'UTC')::date AS day) AS clock
    CROSS JOIN LATERAL (SELECT least(greatest(locked.day, clock.day), clock.day + 1) AS day) AS today
  ), granted AS MATERIALIZED (
    SELECT limit_state.*, plan.every_ms, plan.per_day, burst_end.whole_at, ahead.ms AS whole_in_ms,
      least(
        demand.requests,
        greatest(0, (plan.burst * plan.every_ms - ahead.ms) / plan.every_ms),
        greatest(0, coalesce(plan.per_day - day_used, demand.requests))
      ) AS taken
    FROM limit_state
    JOIN demand USING (account_id)
    JOIN plan USING (pack)
    CROSS JOIN LATERAL (
      SELECT CASE
        WHEN burst_whole_at > now + burst * every_ms * interval '1 millisecond' THEN now + every_ms * interval '1 millisecond'
        ELSE greatest(burst_whole_at, now)
      END AS whole_at
    ) AS burst_end
    CROSS JOIN LATERAL (SELECT (extract(epoch FROM whole_at - now) * 1000)::integer AS ms) AS ahead
  ), written AS (
    UPDATE account_limits
    SET burst_whole_at = whole_at + granted.taken * every_ms * interval '1 millisecond',
      day = granted.day,
      day_requests = day_used + CASE WHEN per_day IS NULL THEN 0 ELSE granted.taken END
    FROM granted
    WHERE account_limits.account_id = granted.account_id AND (granted.taken > 0 OR granted.burst_whole_at > whole_at)
  ), stale AS MATERIALIZED (
    SELECT api_keys.id, now
    FROM known
    JOIN granted USING (account_id)
    JOIN api_keys ON api_keys.id = known.key_id
    WHERE known.last_used_at IS NULL OR known.last_used_at < now - interval '1 minute'
    FOR NO KEY UPDATE OF api_keys SKIP LOCKED
  ), used AS (
    UPDATE api_keys SET last_used_at = now FROM stale WHERE api_keys.id = stale.id
  )`;

const USE_GRANTS = `
  stale_grants AS MATERIALIZED (
    SELECT oauth_records.id_hash, now
    FROM known
    JOIN granted USING (account_id)
    JOIN oauth_records ON oauth_records.id_hash = known.grant_hash
    WHERE known.last_used_at IS NULL OR known.last_used_at < now - interval '1 minute'
    FOR NO KEY UPDATE OF oauth_records SKIP LOCKED
  ), used_grants AS (
    UPDATE oauth_records SET last_used_at = now FROM stale_grants WHERE oauth_records.id_hash = stale_grants.id_hash
  )`;

const ANSWER = `
  SELECT number, status, key_id AS "keyId", key_hash AS "keyHash", scopes, account_id AS "accountId", balance, known.pack,
    granted.taken, whole_in_ms AS "wholeInMs", granted.day::text, day_used AS "dayUsed",
    (extract(epoch FROM (granted.day + 1)::timestamp AT TIME ZONE 'UTC' - now) * 1000)::integer AS "dayLeftMs",
    row_number() OVER (PARTITION BY account_id ORDER BY number)::integer AS ordinal
  FROM async_commit, known
  LEFT JOIN granted USING (account_id)
  WHERE granted.account_id IS NOT NULL OR status = 'frozen'`;

const ASYNC_COMMIT = `async_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))`;

/** Requests of /v1, which takes keys alone. */
const ADMIT_KEYS = {
  name: 'admit-keys',
  text: `
  WITH ${ASYNC_COMMIT}, asked AS (
    SELECT * FROM unnest((SELECT $1::text[]), (SELECT $2::bytea[])) WITH ORDINALITY AS asked (key_id, key_hash, number)
  ), known AS MATERIALIZED (${FIND_KEYS}
  ), ${GRANT}${ANSWER}`,
};

const ADMIT_KEYS_AND_TOKENS = {
  name: 'admit-keys-and-tokens',
  text: `
  WITH ${ASYNC_COMMIT}, asked AS (
    SELECT * FROM unnest((SELECT $1::text[]), (SELECT $2::bytea[]), (SELECT $7::text[]))
      WITH ORDINALITY AS asked (key_id, key_hash, audience, number)
  ), known AS MATERIALIZED (${FIND_KEYS}
    UNION ALL ${FIND_TOKENS}
  ), ${GRANT}, ${USE_GRANTS}${ANSWER}`,
};

/**
 * Returns the daily slot of a request that does not count. A day that is over does not change. Like an admission it
 * does not wait for the disk, nor for a standby: the account's next request waits for its lock.
 */
export async function returnDailySlot(db: Queryable, accountId: string, day: string): Promise<void> {
  await execute(db)`
    WITH async_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    UPDATE account_limits SET day_requests = day_requests - 1
    FROM async_commit
    WHERE account_id = ${accountId} AND day = ${day} AND day_requests > 0`;
}

/** Messages that an account may send to the tool server without calling a tool, in any stretch of `seconds`. */
export interface MessageLimit {
  max: number;
  seconds: number;
}

/**
 * Takes one use of the limit of a message's account. A key or token that may not be used takes nothing.
 *
 * @returns 0 when the message may pass, else the seconds until one may, rounded up; undefined when the key or token is
 * unknown, revoked or expired, or its account is deleted; 'frozen' when its account is frozen
 */
export async function admitMessage(
  db: Queryable,
  asking: RequestCredentials,
  { max, seconds }: MessageLimit,
): Promise<number | 'frozen' | undefined> {
  const { rows } = await db.query<{ account_id: string; status: string }>({
    name: 'find-caller',
    text: FIND_CALLER,
    values: 'keyId' in asking ? [asking.keyId, asking.keyHash, null] : [null, asking.tokenHash, asking.audience],
  });
  const [caller] = rows;
  if (caller === undefined) return undefined;
  if (caller.status === 'frozen') return 'frozen';
  return takeUse(db, { name: `mcp:${caller.account_id}`, maxUses: max, seconds });
}

const FIND_CALLER = `
  WITH asked AS (SELECT $1::text AS key_id, $2::bytea AS key_hash, $3::text AS audience, 1 AS number)
  SELECT account_id, status FROM (${FIND_KEYS} UNION ALL ${FIND_TOKENS}) AS known`;
