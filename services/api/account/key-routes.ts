import type { z } from 'zod';
import {
  accountGrant,
  accountGrantList,
  accountGrantRevoked,
  apiKey,
  apiKeyList,
  apiKeyRevoked,
  createdApiKey,
  createKeyBody,
} from '../../../schemas/api/account.ts';
import type { AccountGrantResource, ApiKey } from '../../../schemas/api/account.ts';
import { listAccountGrants, revokeGrant } from '../../../shared/accounts/account-grants.ts';
import type { AccountGrant } from '../../../shared/accounts/account-grants.ts';
import { lockAccount } from '../../../shared/accounts/accounts.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from '../../../shared/accounts/api-keys.ts';
import type { StoredApiKey } from '../../../shared/accounts/api-keys.ts';
import { apiKeyId, isApiKeyId } from '../../../shared/accounts/rules/credentials.ts';
import { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import type { PoolClient } from '../../../shared/postgres/pool.ts';
import { accountFrozen, unauthorized } from '../admission/caller.ts';
import { runIdempotentRequest } from '../admission/idempotent-request.ts';
import { ApiError, invalidRequest } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import type { AccountDeps } from './account-routes.ts';
import { newKeyMail, sendSecurityMail } from './security-mails.ts';

const MAX_KEYS = 20;
/** Each is mailed to the owner: whoever creates keys in a loop must not bury the mail that matters. */
const KEYS_PER_DAY = 40;
const DAY = 86_400;

/** The routes about an account's keys. A program without a browser rotates its own key with them. */
export function keyRoutes(deps: AccountDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/account/keys',
      scope: 'account',
      operationId: 'listKeys',
      tag: 'Account',
      summary: 'List the keys of the account',
      description: 'Active keys, oldest first, without their secrets.',
      responses: [ok('The keys.', apiKeyList)],
      handle: (request) => list(deps, request),
    }),
    route({
      method: 'post',
      path: '/v1/account/keys',
      scope: 'account',
      operationId: 'createKey',
      tag: 'Account',
      summary: 'Create a key',
      description:
        'An account can have up to 20 active keys and create up to 40 a day. The permissions are `forum:read`, `monitors:read`, `monitors:write` and `account`; the default is all of them. A key can grant only permissions that it has itself. To rotate a key without downtime, create a new key, switch to it, then revoke the old one. The account owner is notified by mail.',
      body: { schema: createKeyBody },
      isIdempotent: true,
      responses: [{ ...ok('The new key. `api_key` is shown only once.', createdApiKey), status: 201 }],
      handle: (request) => create(deps, request),
    }),
    route({
      method: 'delete',
      path: '/v1/account/keys/:id',
      scope: 'account',
      operationId: 'revokeKey',
      tag: 'Account',
      summary: 'Revoke a key',
      description:
        'Takes effect immediately: requests sent after this response are refused. A key can revoke itself. Revoking a key again has no effect.',
      params: { id: { description: 'The key id.', example: exampleOf(apiKey.shape.id) } },
      responses: [ok('The key is revoked.', apiKeyRevoked)],
      handle: (request) => revoke(deps, request),
    }),
  ];
}

async function list({ pool }: AccountDeps, { caller }: RouteRequest): Promise<RouteResponse> {
  return { status: 200, body: { items: (await listApiKeys(pool, caller.accountId)).map(keyResource) } };
}

type RequestedKey = z.output<typeof createKeyBody>;

/** A repeat with the same Idempotency-Key gets the same key: a client that lost the response has no other way to it. */
async function create(deps: AccountDeps, request: RouteRequest<unknown, RequestedKey>): Promise<RouteResponse> {
  const { pool, secretBox } = deps;
  // Before the stored response is looked up: it holds the new key, which a weaker key must not get by a repeat.
  const requested = checkedKey(request);
  // Set in the transaction: nothing must fail between the commit and the response, which alone has the key.
  let email: string | undefined;
  const { status, body, headers } = await runIdempotentRequest<RequestedKey>({
    pool,
    secretBox,
    request,
    prepare: () => Promise.resolve(requested),
    work: async (client) => {
      const issued = await issue(client, request.caller.accountId, requested);
      email = issued.email;
      return { status: 201, body: issued.created };
    },
  });
  if (email !== undefined) await notifyOfKey(deps, request, email, (body as CreatedKey).key);
  return { status, body, headers: headers ?? {} };
}

function checkedKey({ caller, body: requested }: RouteRequest<unknown, RequestedKey>): RequestedKey {
  const lacking = requested.scopes.filter((scope) => !caller.scopes.includes(scope));
  if (lacking.length > 0) {
    throw new ApiError(
      'insufficient_scope',
      `scopes: this key does not have ${lacking.join(', ')}, so it cannot grant that.`,
    );
  }
  return requested;
}

interface CreatedKey {
  key: ApiKey;
  api_key: string;
}

async function issue(
  client: PoolClient,
  accountId: string,
  { name, scopes }: RequestedKey,
): Promise<{ created: CreatedKey; email: string }> {
  const account = await lockAccount(client, accountId);
  if (account?.status === 'frozen') throw accountFrozen();
  if (account?.status !== 'active') throw unauthorized();
  if ((await listApiKeys(client, accountId)).length >= MAX_KEYS) {
    throw invalidRequest([
      { field: 'name', message: `the account already has ${MAX_KEYS} keys, the maximum; revoke one first` },
    ]);
  }
  const retryAfter = await takeUse(client, { name: `keys:${accountId}`, maxUses: KEYS_PER_DAY, seconds: DAY });
  if (retryAfter > 0) {
    throw new ApiError('rate_limited', `An account can create ${KEYS_PER_DAY} keys a day. Try again later.`, {
      retryAfter,
    });
  }
  const key = await issueApiKey(client, accountId, name, scopes);
  const stored = (await listApiKeys(client, accountId)).find(({ id }) => id === apiKeyId(key));
  if (!stored) throw new Error('a key was not found after its insert');
  return { created: { key: keyResource(stored), api_key: key }, email: account.email };
}

async function notifyOfKey(
  deps: AccountDeps,
  { caller }: RouteRequest,
  email: string,
  { id, name, scopes, created_at }: ApiKey,
): Promise<void> {
  const key = { keyId: id, name, scopes, at: new Date(created_at), creatorKeyId: caller.keyId };
  await sendSecurityMail(deps, newKeyMail(email, key, deps.dashboardUrl), 'a key was created');
}

async function revoke({ pool }: AccountDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  if (!isApiKeyId(id) || !(await revokeApiKey(pool, caller.accountId, id)))
    throw new ApiError('not_found', 'No such key.');
  return { status: 200, body: { status: 'revoked' } };
}

function keyResource({ id, name, scopes, createdAt, lastUsedAt }: StoredApiKey): ApiKey {
  return {
    id,
    name,
    scopes: scopes as ApiKey['scopes'],
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}

/** The routes about connected apps: programs that were authorised by signing in for the tool server. */
export function grantRoutes(deps: AccountDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/account/grants',
      scope: 'account',
      operationId: 'listGrants',
      tag: 'Account',
      summary: 'List connected apps',
      description:
        'The apps that can use the account through the tool server, newest first, at most 1,000. An app that was connected twice appears twice.',
      responses: [ok('The grants.', accountGrantList)],
      handle: (request) => listGrants(deps, request),
    }),
    route({
      method: 'delete',
      path: '/v1/account/grants/:id',
      scope: 'account',
      operationId: 'revokeGrant',
      tag: 'Account',
      summary: 'Disconnect an app',
      description:
        'Revokes the grant of the app. Its codes and tokens stop working immediately: requests sent after this response are refused. To use the account again, the app must be connected again.',
      params: { id: { description: 'The grant id.', example: exampleOf(accountGrant.shape.id) } },
      responses: [ok('The grant is revoked.', accountGrantRevoked)],
      handle: (request) => revokeOne(deps, request),
    }),
  ];
}

async function listGrants({ pool, secretBox }: AccountDeps, { caller }: RouteRequest): Promise<RouteResponse> {
  const grants = await listAccountGrants(pool, new SealedRecords(pool, secretBox), caller.accountId);
  return { status: 200, body: { items: grants.map(grantResource) } };
}

async function revokeOne({ pool }: AccountDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  if (!(await revokeGrant(pool, caller.accountId, id))) throw new ApiError('not_found', 'No such grant.');
  return { status: 200, body: { status: 'revoked' } };
}

function grantResource(grant: AccountGrant): AccountGrantResource {
  return {
    id: grant.id,
    client_id: grant.clientId,
    client_name: grant.clientName,
    scopes: grant.scopes,
    granted_at: grant.grantedAt.toISOString(),
    last_used_at: grant.lastUsedAt?.toISOString() ?? null,
  };
}
