import { createHash, timingSafeEqual } from 'node:crypto';
import {
  claimIdempotencyKey,
  contextOfResponse,
  findStoredResponse,
  KEYS_PER_ACCOUNT,
  secondsUntilKeyIsFree,
  storeResponse,
} from '../../../shared/accounts/idempotency-keys.ts';
import type { IdempotencyKey, StoredResponse } from '../../../shared/accounts/idempotency-keys.ts';
import { ApiError, invalidRequest } from '../http/api-error.ts';
import type { RouteResponse, RouteRequest } from '../http/route.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool, PoolClient } from '../../../shared/postgres/pool.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';

export interface IdempotentRequestDeps<P> {
  pool: Pool;
  /** Encrypts stored responses, which may contain secrets. */
  secretBox: SecretBox;
  request: RouteRequest;
  /** Validates the request; may use the network. */
  prepare: () => Promise<P>;
  /** Does the work in the transaction that also stores the response. */
  work: (client: PoolClient, prepared: P) => Promise<RouteResponse>;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Runs a request. One with an `Idempotency-Key` runs once in 24 hours: a repeat gets the first response and is free.
 * The key is claimed before every other lock of the transaction, so requests with the same key wait for each other and
 * cannot deadlock. Only successful responses are stored: after a refusal or a failure the request may be repeated.
 *
 * @throws ApiError idempotency_conflict when the key was used with another body
 * @throws ApiError rate_limited when the account used too many keys in 24 hours; nothing was done then
 * @throws ClientDisconnected; nothing was done then
 * @throws what `prepare` and `work` throw
 */
export async function runIdempotentRequest<P>(options: IdempotentRequestDeps<P>): Promise<RouteResponse> {
  const { pool, request, prepare } = options;
  // Rolls back when the client has disconnected: otherwise it would pay for a response that it never received.
  const work: typeof options.work = async (client, prepared) => {
    const response = await options.work(client, prepared);
    request.throwIfDisconnected();
    return response;
  };
  if (request.idempotencyKey === undefined) {
    const prepared = await prepare();
    return inTransaction(pool, (client) => work(client, prepared));
  }
  if (!KEY.test(request.idempotencyKey)) {
    throw invalidRequest([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }]);
  }
  const route = request.route.replace('{id}', request.id);
  const key = { accountId: request.caller.accountId, route, key: request.idempotencyKey };
  const bodyHash = hashBody(request.sentBody);
  const kept = await findStoredResponse(pool, key);
  if (kept) return replay(options, key, bodyHash, kept);
  await refuseTooManyKeys(pool, key.accountId);
  const prepared = await prepare();
  const response = await inTransaction(pool, async (client) => {
    if (!(await claimIdempotencyKey(client, key, bodyHash))) return undefined;
    const { status, body, charged } = await work(client, prepared);
    await storeResponse(client, key, options.secretBox.seal(JSON.stringify({ status, body }), contextOfResponse(key)));
    return { status, body, ...(charged ? { charged } : {}) };
  });
  if (response) return response;
  const first = await findStoredResponse(pool, key);
  if (!first) throw new Error('the stored answer of an idempotency key no longer exists');
  return replay(options, key, bodyHash, first);
}

async function refuseTooManyKeys(pool: Pool, accountId: string): Promise<void> {
  const retryAfter = await secondsUntilKeyIsFree(pool, accountId);
  if (retryAfter === 0) return;
  const message = `Idempotency-Key: the account has used ${KEYS_PER_ACCOUNT} keys in the last 24 hours, which is the limit.`;
  throw new ApiError('rate_limited', message, { retryAfter });
}

function replay<P>(
  { request, secretBox }: IdempotentRequestDeps<P>,
  key: IdempotencyKey,
  bodyHash: Buffer,
  kept: StoredResponse,
): RouteResponse {
  if (!timingSafeEqual(bodyHash, kept.bodyHash)) {
    throw new ApiError(
      'idempotency_conflict',
      'Idempotency-Key: was already used with a different body in the last 24 hours. Use a new key.',
    );
  }
  const { status, body } = JSON.parse(secretBox.open(kept.answer, contextOfResponse(key))) as Pick<
    RouteResponse,
    'status' | 'body'
  >;
  return {
    status,
    body,
    headers: { 'Idempotency-Replayed': 'true' },
    charged: { credits: 0, balance: request.caller.balance },
  };
}

/** Equal for bodies that are the same JSON: whitespace and the order of members do not matter. */
function hashBody(body: unknown): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(ordered(body ?? null)))
    .digest();
}

function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const members = Object.entries(value).map(([name, member]) => [name, ordered(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}
