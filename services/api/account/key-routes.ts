import { createKeyBody } from '../../../schemas/api/account.ts';
import type { ApiKey } from '../../../schemas/api/account.ts';
import { apiKeyId, isApiKeyId } from '../../../shared/domain/accounts/api-key.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { lockAccount } from '../../../shared/stores/accounts/accounts.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from '../../../shared/stores/accounts/api-keys.ts';
import type { StoredApiKey } from '../../../shared/stores/accounts/api-keys.ts';
import { ApiError } from '../http/api-error.ts';
import { accountFrozen, unauthorized } from '../admission/authentication.ts';
import { invalidRequest, parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { newKeyMail } from '../notices/new-key-mail.ts';
import { sendNotice } from '../notices/send-notice.ts';
import type { AccountDeps } from './account-deps.ts';

/** Active keys of an account. */
const MAX_KEYS = 20;

/** The routes about an account's keys. A program without a browser rotates its own key with them. */
export function keyRoutes(deps: AccountDeps): Route[] {
  return [
    { method: 'get', path: '/v1/account/keys', scope: 'account', handle: (call) => list(deps, call) },
    {
      method: 'post',
      path: '/v1/account/keys',
      scope: 'account',
      readsBody: true,
      handle: (call) => create(deps, call),
    },
    { method: 'delete', path: '/v1/account/keys/:id', scope: 'account', handle: (call) => revoke(deps, call) },
  ];
}

async function list({ pool }: AccountDeps, { caller }: Call): Promise<Answer> {
  return { status: 200, body: { items: (await listApiKeys(pool, caller.accountId)).map(keyResource) } };
}

async function create(deps: AccountDeps, { caller, body }: Call): Promise<Answer> {
  const { name, scopes } = parseRequest(createKeyBody, body ?? {}, 'body');
  const lacking = scopes.filter((scope) => !caller.scopes.includes(scope));
  if (lacking.length > 0) {
    throw new ApiError('insufficient_scope', `scopes: this key lacks ${lacking.join(', ')} itself.`);
  }
  const { email, key, stored } = await inTransaction(deps.pool, async (client) => {
    const account = await lockAccount(client, caller.accountId);
    if (account?.status === 'frozen') throw accountFrozen();
    if (account?.status !== 'active') throw unauthorized();
    if ((await listApiKeys(client, caller.accountId)).length >= MAX_KEYS) {
      throw invalidRequest([{ field: 'name', message: `the account has ${MAX_KEYS} keys already; revoke one first` }]);
    }
    const issued = await issueApiKey(client, caller.accountId, name, scopes);
    const found = (await listApiKeys(client, caller.accountId)).find(({ id }) => id === apiKeyId(issued));
    if (!found) throw new Error('a key was not found after its insert');
    return { email: account.email, key: issued, stored: found };
  });
  const newKey = { keyId: stored.id, name, scopes, at: stored.createdAt, creatorKeyId: caller.keyId };
  await sendNotice(deps, newKeyMail(email, newKey, deps.dashboardUrl), 'a key was created');
  return { status: 201, body: { key: keyResource(stored), api_key: key } };
}

async function revoke({ pool }: AccountDeps, { caller, id }: Call): Promise<Answer> {
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
