import type { IncomingHttpHeaders } from 'node:http';
import { apiKeyId, hashApiKey, isApiKey } from '../../../shared/domain/accounts/api-key.ts';
import { hashOAuthId, isAccessToken } from '../../../shared/domain/accounts/oauth-secret.ts';
import { ApiError } from '../http/api-error.ts';

/** Who asks. */
export interface Caller {
  /** undefined: an access token asks. */
  keyId: string | undefined;
  accountId: string;
  scopes: string[];
  /** Credits, when the request came. */
  balance: number;
  /** Price in dollars of the account's largest pack; 0: none. */
  pack: number;
}

/** A key as a request brought it. */
export interface GivenKey {
  key: string;
  /** Its public part. */
  id: string;
  hash: Buffer;
}

/**
 * The key of a request: `Authorization: Bearer KEY`, else `X-Api-Key: KEY`.
 *
 * @throws ApiError unauthorized when there is none, or what there is has not the shape of one
 */
export function givenKey({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): GivenKey {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const key = bearer ?? (Array.isArray(apiKey) ? apiKey[0] : apiKey);
  const id = key === undefined ? undefined : apiKeyId(key);
  if (key === undefined || id === undefined) throw unauthorized();
  return { key, id, hash: hashApiKey(key) };
}

/** The hash of the access token of a request, `Authorization: Bearer TOKEN`; undefined when there is none. */
export function givenTokenHash({ authorization = '' }: IncomingHttpHeaders): Buffer | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  return bearer !== undefined && isAccessToken(bearer) ? hashOAuthId(bearer) : undefined;
}

/** @throws ApiError unauthorized when the key has not this hash; takes the same time wherever they differ */
export function checkKey({ key }: GivenKey, hash: Uint8Array): void {
  if (!isApiKey(key, hash)) throw unauthorized();
}

/** Alike for every reason, so that nothing is learnt about keys. */
export function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'Send a valid API key as "Authorization: Bearer KEY" or "X-Api-Key: KEY".');
}
