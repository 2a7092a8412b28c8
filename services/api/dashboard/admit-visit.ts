import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import { admitDashboardVisit } from '../../../shared/stores/dashboard/dashboard-sessions.ts';
import type { StoredDashboardSession } from '../../../shared/stores/dashboard/dashboard-sessions.ts';
import type { Caller } from '../admission/authentication.ts';
import { ApiError } from '../http/api-error.ts';
import type { DashboardCookies } from './dashboard-cookies.ts';

/** A session, its account, and the random value of its cookie. */
export interface SignedIn {
  session: StoredDashboardSession;
  account: StoredAccount;
  token: string;
}

/** Requests of one session. They do not count for the account's own limits. */
const PER_MINUTE = 60;
const MINUTE = 60;

/** SHA-256: the cookie is random, so a slow or keyed hash would protect nothing more. */
export function hashSessionToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Finds the session of a request's cookie and takes one of its requests.
 *
 * @returns undefined when the browser is not signed in
 * @throws ApiError rate_limited
 */
export async function admitVisit(
  pool: Queryable,
  cookies: DashboardCookies,
  request: Request,
): Promise<SignedIn | undefined> {
  const token = cookies.session(request);
  if (token === undefined) return undefined;
  const limit = { maxUses: PER_MINUTE, seconds: MINUTE };
  const visit = await admitDashboardVisit(pool, hashSessionToken(token), limit);
  if (visit === undefined) return undefined;
  const { session, account, retryAfter } = visit;
  if (retryAfter > 0) {
    const message = `A session may ask for ${PER_MINUTE} pages a minute. Try again in ${retryAfter} s.`;
    throw new ApiError('rate_limited', message, { retryAfter });
  }
  return { session, account, token };
}

/** The person as a caller of the API's routes. A session may do what a key with every permission may. */
export function callerOf({ session, account: { id, balance, pack } }: Omit<SignedIn, 'token'>): Caller {
  return { keyId: undefined, sessionId: session.id, accountId: id, scopes: [...KEY_SCOPES], balance, pack };
}
