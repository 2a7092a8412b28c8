import { createHash, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool, PoolClient } from '../../../shared/postgres/pool.ts';
import { claimIdempotencyKey, findKeptAnswer, keepAnswer } from '../../../shared/stores/accounts/idempotency-keys.ts';
import type { IdempotencyKey, KeptAnswer } from '../../../shared/stores/accounts/idempotency-keys.ts';
import { ApiError } from '../http/api-error.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import type { Answer, Call } from '../http/route.ts';

export interface IdempotentRequestDeps<P> {
  pool: Pool;
  /** Kept answers may hold secrets. */
  secretBox: SecretBox;
  call: Call;
  /** Method and path, with the ids in it. */
  route: string;
  /** Checks the request; may use the network. */
  prepare: () => Promise<P>;
  /** Does what is asked, in one transaction with the answer's keeping. */
  work: (client: PoolClient, prepared: P) => Promise<Answer>;
}

const KEY = /^[\x21-\x7e]{1,255}$/;
/** Far more than any body needs, and far less than what would overflow the stack. */
const DEEPEST_BODY = 32;

/**
 * Answers a request; one with an `Idempotency-Key` only once in 24 hours: sent again, it gets the first answer and
 * costs nothing. The key is claimed before everything else that the transaction locks, so requests with the same key
 * wait for each other and for nothing in a circle. Only answers are kept: after a refusal or a failure the request may
 * be sent again.
 *
 * @throws ApiError idempotency_conflict when the key came with another body; what `prepare` and `work` throw;
 * ClientGone, when nothing was done
 */
export async function runIdempotentRequest<P>(options: IdempotentRequestDeps<P>): Promise<Answer> {
  const { pool, call, prepare } = options;
  // Thrown away before it is committed when nobody waits for the answer any more: nobody would learn what was paid for.
  const work: typeof options.work = async (client, prepared) => {
    const answer = await options.work(client, prepared);
    call.refuseAbandoned();
    return answer;
  };
  if (call.idempotencyKey === undefined) {
    const prepared = await prepare();
    return inTransaction(pool, (client) => work(client, prepared));
  }
  if (!KEY.test(call.idempotencyKey)) {
    throw invalidRequest([{ field: 'Idempotency-Key', message: 'must have 1 to 255 visible ASCII characters' }]);
  }
  const key = { accountId: call.caller.accountId, route: options.route, key: call.idempotencyKey };
  const bodyHash = hashBody(call.body);
  const kept = await findKeptAnswer(pool, key);
  if (kept) return replay(options, key, bodyHash, kept);
  const prepared = await prepare();
  const answer = await inTransaction(pool, async (client) => {
    if (!(await claimIdempotencyKey(client, key, bodyHash))) return undefined;
    const { status, body, charged } = await work(client, prepared);
    await keepAnswer(client, key, options.secretBox.seal(JSON.stringify({ status, body }), contextOf(key)));
    return { status, body, ...(charged ? { charged } : {}) };
  });
  if (answer) return answer;
  const first = await findKeptAnswer(pool, key);
  if (!first) throw new Error('the answer of an idempotency key is gone');
  return replay(options, key, bodyHash, first);
}

function replay<P>(
  { call, secretBox }: IdempotentRequestDeps<P>,
  key: IdempotencyKey,
  bodyHash: Buffer,
  kept: KeptAnswer,
): Answer {
  if (!timingSafeEqual(bodyHash, kept.body_hash)) {
    throw new ApiError('idempotency_conflict', 'Idempotency-Key: was used with another body in the last 24 hours.');
  }
  const { status, body } = JSON.parse(secretBox.open(kept.answer, contextOf(key))) as Pick<Answer, 'status' | 'body'>;
  return {
    status,
    body,
    headers: { 'Idempotency-Replayed': 'true' },
    charged: { credits: 0, balance: call.caller.balance },
  };
}

/**
 * Alike for bodies that are the same JSON: neither blanks nor the order of members matter. @throws ApiError
 * invalid_request
 */
function hashBody(body: unknown): Buffer {
  const text = JSON.stringify(ordered(body ?? null, 0));
  return createHash('sha256').update(text).digest();
}

function ordered(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST_BODY) throw invalidRequest([{ field: 'body', message: 'is nested too deeply' }]);
  if (Array.isArray(value)) return value.map((member) => ordered(member, depth + 1));
  const members = Object.entries(value).map(([name, member]) => [name, ordered(member, depth + 1)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function contextOf({ accountId, route, key }: IdempotencyKey): string {
  return `idempotency ${accountId} ${route} ${key}`;
}
