import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { allPlans } from '../../../shared/billing/rules/plans.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import { CallBatcher } from '../../../shared/runtime/call-batcher.ts';
import { findApiKey } from '../../../shared/accounts/api-keys.ts';
import { apiKeyId, hashApiKey, hashOAuthId, isAccessToken } from '../../../shared/accounts/rules/credentials.ts';
import { admitMessage, admitRequests, returnDailySlot } from '../../../shared/accounts/request-limits.ts';
import type {
  MessageLimit,
  AdmittedRequest,
  FrozenRequest,
  RequestCredentials,
  RequestLimits,
} from '../../../shared/accounts/request-limits.ts';
import { findAccessToken } from '../../../shared/accounts/sealed-records.ts';
import { ApiError } from '../http/api-error.ts';
import { accountFrozen, unauthorized } from './caller.ts';
import type { Caller } from './caller.ts';

/** What is left of a limit after this request. */
export interface Quota {
  name: 'burst' | 'day';
  /** Requests in a window of `windowSeconds`. */
  limit: number;
  windowSeconds: number;
  remaining: number;
  /** Seconds until the limit is full again. */
  fullInSeconds: number;
}

/** A request whose key or token is valid. */
export interface Admission {
  caller: Caller;
  quotas: Quota[];
  refusal: ApiError | undefined;
  /** The UTC day whose slot the request took; undefined without a daily limit or when the request was refused. */
  day: string | undefined;
}

/** Request limits by the price of the account's largest pack, in dollars. */
export type LimitsByPack = ReadonlyMap<number, RequestLimits>;

const DAY_SECONDS = 86_400;

/**
 * Admits requests in one round trip: it looks up the key and the account's balance, and takes the rate limit and the
 * daily slot. Requests that arrive together share a statement. Nothing is cached between requests, so a key that any
 * process revoked is refused everywhere from then on.
 */
export class AdmissionControl {
  private readonly db: Queryable;
  private readonly limits: LimitsByPack;
  private readonly batcher: CallBatcher<RequestCredentials, AdmittedRequest | FrozenRequest | undefined>;

  constructor(db: Queryable, limits: LimitsByPack = allPlans()) {
    this.db = db;
    this.limits = limits;
    this.batcher = new CallBatcher({
      run: (requests) => admitRequests(db, requests, limits),
      isShared: isPostgresUnavailable,
    });
  }

  /** @throws ApiError unauthorized, account_frozen; no limit is taken then */
  async admit(headers: IncomingHttpHeaders): Promise<Admission> {
    const given = readApiKey(headers);
    const found = await this.find({ keyId: given.id, keyHash: given.hash });
    verifyKey(given, found.keyHash);
    return this.admissionOf(found);
  }

  /** Like `admit`, and accepts access tokens of `audience` too. @throws ApiError unauthorized, account_frozen */
  async admitWithToken(headers: IncomingHttpHeaders, audience: string): Promise<Admission> {
    const tokenHash = readAccessTokenHash(headers);
    if (tokenHash === undefined) return this.admit(headers);
    return this.admissionOf(await this.find({ tokenHash, audience }));
  }

  /**
   * Admits a message to the tool server that calls no tool: it has its own limit and does not count as a request.
   *
   * @returns 0 when the message may pass, else the seconds until one may
   * @throws ApiError unauthorized, account_frozen; the limit is not touched then
   */
  async admitMessage(headers: IncomingHttpHeaders, audience: string, limit: MessageLimit): Promise<number> {
    const retryAfter = await admitMessage(this.db, credentialsOf(headers, audience), limit);
    if (retryAfter === undefined) throw unauthorized();
    if (retryAfter === 'frozen') throw accountFrozen();
    return retryAfter;
  }

  /** Checks a key or token of `audience` and takes no limit. @throws ApiError unauthorized, account_frozen */
  async authenticate(headers: IncomingHttpHeaders, audience: string): Promise<void> {
    const credentials = credentialsOf(headers, audience);
    if ('tokenHash' in credentials) {
      const token = await findAccessToken(this.db, credentials.tokenHash, audience);
      if (token === undefined) throw unauthorized();
      if (token.status === 'frozen') throw accountFrozen();
      return;
    }
    const key = await findApiKey(this.db, credentials.keyId);
    if (key === undefined) throw unauthorized();
    verifyKey(readApiKey(headers), key.hash);
    if (key.status === 'frozen') throw accountFrozen();
  }

  private async find(credentials: RequestCredentials): Promise<AdmittedRequest> {
    const found = await this.batcher.call(credentials);
    if (found === undefined) throw unauthorized();
    if (found.status === 'frozen') throw accountFrozen();
    return found;
  }

  private admissionOf(found: AdmittedRequest): Admission {
    const limits = this.limits.get(found.pack);
    if (limits === undefined) throw new RangeError(`there is no pack of $${found.pack}`);
    return admissionOf(found, limits);
  }

  async returnDailySlot({ caller, day }: Admission): Promise<void> {
    if (day !== undefined) await returnDailySlot(this.db, caller.accountId, day);
  }
}

/** @throws ApiError unauthorized when there is neither a token nor a well-formed key */
function credentialsOf(headers: IncomingHttpHeaders, audience: string): RequestCredentials {
  const tokenHash = readAccessTokenHash(headers);
  if (tokenHash !== undefined) return { tokenHash, audience };
  const { id, hash } = readApiKey(headers);
  return { keyId: id, keyHash: hash };
}

interface PresentedKey {
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
function readApiKey({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): PresentedKey {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const key = bearer ?? (Array.isArray(apiKey) ? apiKey[0] : apiKey);
  const id = key === undefined ? undefined : apiKeyId(key);
  if (key === undefined || id === undefined) throw unauthorized();
  return { id, hash: hashApiKey(key) };
}

/** The hash of the access token in `Authorization: Bearer TOKEN`; undefined without one. */
function readAccessTokenHash({ authorization = '' }: IncomingHttpHeaders): Buffer | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  return bearer !== undefined && isAccessToken(bearer) ? hashOAuthId(bearer) : undefined;
}

/** Compares in constant time. @throws ApiError unauthorized when the key does not have this hash */
function verifyKey({ hash: given }: PresentedKey, hash: Uint8Array): void {
  if (hash.length !== given.length || !timingSafeEqual(given, hash)) throw unauthorized();
}

function admissionOf(found: AdmittedRequest, limits: RequestLimits): Admission {
  const quotas = [burstQuota(found, limits), ...dayQuota(found, limits)];
  const isAdmitted = found.ordinal <= found.taken;
  return {
    caller: {
      keyId: found.keyId ?? undefined,
      accountId: found.accountId,
      scopes: found.scopes,
      balance: found.balance,
      pack: found.pack,
    },
    quotas,
    refusal: isAdmitted ? undefined : limitError(found, limits),
    day: isAdmitted && limits.requestsPerDay !== null ? found.day : undefined,
  };
}

/** Milliseconds until the burst is full again after this request. */
function burstFullInMs(
  { ordinal, taken, wholeInMs: untilFullMs }: AdmittedRequest,
  { requestsPerSecond }: RequestLimits,
): number {
  return untilFullMs + (Math.min(ordinal, taken) * 1000) / requestsPerSecond;
}

function burstQuota(found: AdmittedRequest, limits: RequestLimits): Quota {
  const { burst, requestsPerSecond } = limits;
  const fullInMs = burstFullInMs(found, limits);
  return {
    name: 'burst',
    limit: burst,
    windowSeconds: Math.ceil(burst / requestsPerSecond),
    remaining: Math.max(0, Math.floor(burst - (fullInMs * requestsPerSecond) / 1000)),
    fullInSeconds: Math.ceil(fullInMs / 1000),
  };
}

function dayQuota(found: AdmittedRequest, { requestsPerDay }: RequestLimits): Quota[] {
  if (requestsPerDay === null) return [];
  const remaining = Math.max(0, requestsPerDay - found.dayUsed - Math.min(found.ordinal, found.taken));
  const fullInSeconds = Math.ceil(found.dayLeftMs / 1000);
  return [{ name: 'day', limit: requestsPerDay, windowSeconds: DAY_SECONDS, remaining, fullInSeconds }];
}

/** Once the day is used up, the response names the end of the day: waiting a second would not help. */
function limitError(found: AdmittedRequest, limits: RequestLimits): ApiError {
  const { burst, requestsPerSecond, requestsPerDay } = limits;
  if (requestsPerDay !== null && found.dayUsed + found.taken >= requestsPerDay) {
    const retryAfter = Math.max(1, Math.ceil(found.dayLeftMs / 1000));
    const message = `You have used all ${requestsPerDay} requests for today (UTC). Any credit pack removes this limit: ask the operator for one.`;
    return new ApiError('daily_limit_reached', message, { retryAfter });
  }
  // Until one request fits into the burst again.
  const freeInMs = burstFullInMs(found, limits) - ((burst - 1) * 1000) / requestsPerSecond;
  const retryAfter = Math.max(1, Math.ceil(freeInMs / 1000));
  const allowed = burst === 1 ? '' : `, with bursts of up to ${burst}`;
  return new ApiError('rate_limited', `Too many requests: the limit is ${requestsPerSecond} a second${allowed}.`, {
    retryAfter,
  });
}
