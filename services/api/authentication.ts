import type { IncomingHttpHeaders } from 'node:http';
import { apiKeyId, isApiKey } from '../../shared/domain/api-key.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { GroupedCalls } from '../../shared/runtime/grouped-calls.ts';
import { findUsableApiKeys } from '../../shared/stores/api-keys.ts';
import type { UsableApiKey } from '../../shared/stores/api-keys.ts';
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

/** Looks a key up by its public id; what is found is as it was after the call, so a revocation counts at once. */
export type FindApiKey = (id: string) => Promise<UsableApiKey | undefined>;

/** Keys from Postgres; requests that come together share a query. */
export function createKeyLookup(db: Queryable): FindApiKey {
  const lookups = new GroupedCalls<string, UsableApiKey | undefined>({ run: (ids) => findUsableApiKeys(db, ids) });
  return (id) => lookups.call(id);
}

/**
 * The caller that a request's key stands for: `Authorization: Bearer KEY`, else `X-Api-Key: KEY`.
 *
 * @throws ApiError unauthorized, alike for every reason, so that nothing is learnt about keys
 */
export async function authenticate(findApiKey: FindApiKey, headers: IncomingHttpHeaders): Promise<Caller> {
  const given = givenKey(headers);
  const id = given === undefined ? undefined : apiKeyId(given);
  const known = id === undefined ? undefined : await findApiKey(id);
  if (given === undefined || known === undefined || !isApiKey(given, known.hash)) {
    throw new ApiError('unauthorized', 'Send a valid API key as "Authorization: Bearer KEY" or "X-Api-Key: KEY".');
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
