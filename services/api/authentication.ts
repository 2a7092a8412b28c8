import type { IncomingHttpHeaders } from 'node:http';
import { apiKeyId, isApiKey } from '../../shared/domain/api-key.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { findUsableApiKey } from '../../shared/stores/api-keys.ts';
import { ApiError } from './api-error.ts';

/** Who asks. */
export interface Caller {
  keyId: string;
  accountId: string;
  scopes: string[];
  /** Credits, when the request came. */
  balance: number;
  /** Price in dollars of the account's largest pack; 0: none. */
  pack: number;
}

/**
 * The caller that a request's key stands for: `Authorization: Bearer KEY`, else `X-Api-Key: KEY`. One indexed query.
 *
 * @throws ApiError unauthorized, alike for every reason, so that nothing is learnt about keys
 */
export async function authenticate(db: Queryable, headers: IncomingHttpHeaders): Promise<Caller> {
  const given = givenKey(headers);
  const id = given === undefined ? undefined : apiKeyId(given);
  const known = id === undefined ? undefined : await findUsableApiKey(db, id);
  if (given === undefined || known === undefined || !isApiKey(given, known.hash)) {
    const message = 'Send a valid API key as "Authorization: Bearer KEY" or "X-Api-Key: KEY".';
    throw new ApiError('unauthorized', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  return {
    keyId: known.id,
    accountId: known.account_id,
    scopes: known.scopes,
    balance: known.balance,
    pack: known.pack,
  };
}

function givenKey(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const apiKey = headers['x-api-key'];
  return Array.isArray(apiKey) ? apiKey[0] : apiKey;
}
