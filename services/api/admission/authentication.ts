import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { apiKeyId, hashApiKey, hashOAuthId, isAccessToken } from '../../../shared/accounts/rules/credentials.ts';
import { ApiError } from '../http/api-error.ts';

/** The account that sent a request, and the permissions of its key or token. */
export interface Caller {
  /** undefined: the request came with an access token, or from the dashboard. */
  keyId: string | undefined;
  /** Of the dashboard; absent where the request did not come from there. */
  sessionId?: string;
  accountId: string;
  scopes: string[];
  /** Credits at the time of admission. */
  balance: number;
  /** Price in dollars of the account's largest pack; 0: none. */
  pack: number;
}

/** A key as the request sent it. */
export interface PresentedKey {
  /** The public part of the key. */
  id: string;
  /** Of the whole key. */
  hash: Buffer;
}

/**
 * Reads the key of a request: `Authorization: Bearer KEY`, else `X-Api-Key: KEY`.
 *
 * @throws ApiError unauthorized when there is no key or it is malformed
 */
export function readApiKey({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): PresentedKey {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const key = bearer ?? (Array.isArray(apiKey) ? apiKey[0] : apiKey);
  const id = key === undefined ? undefined : apiKeyId(key);
  if (key === undefined || id === undefined) throw unauthorized();
  return { id, hash: hashApiKey(key) };
}

/** The hash of the access token in `Authorization: Bearer TOKEN`; undefined without one. */
export function readAccessTokenHash({ authorization = '' }: IncomingHttpHeaders): Buffer | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  return bearer !== undefined && isAccessToken(bearer) ? hashOAuthId(bearer) : undefined;
}

/** Compares in constant time. @throws ApiError unauthorized when the key does not have this hash */
export function verifyKey({ hash: given }: PresentedKey, hash: Uint8Array): void {
  if (hash.length !== given.length || !timingSafeEqual(given, hash)) throw unauthorized();
}

/** The credential is right, so its owner may know why it is refused. */
export function accountFrozen(): ApiError {
  return new ApiError('account_frozen', 'The account is frozen. Ask the operator of this service.');
}

/** The same for every reason, so that answers reveal nothing about keys. */
export function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'Send a valid API key as "Authorization: Bearer KEY" or "X-Api-Key: KEY".');
}
