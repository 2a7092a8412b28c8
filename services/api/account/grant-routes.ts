import type { AccountGrantResource } from '../../../schemas/api/account.ts';
import { listAccountGrants, revokeGrant } from '../../../shared/stores/accounts/account-grants.ts';
import type { AccountGrant } from '../../../shared/stores/accounts/account-grants.ts';
import { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';
import { ApiError } from '../http/api-error.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import type { AccountDeps } from './account-deps.ts';

/** The routes about programs that the account authorised by signing in for the tool server. */
export function grantRoutes(deps: AccountDeps): Route[] {
  return [
    { method: 'get', path: '/v1/account/grants', scope: 'account', handle: (call) => list(deps, call) },
    { method: 'delete', path: '/v1/account/grants/:id', scope: 'account', handle: (call) => revoke(deps, call) },
  ];
}

async function list({ pool, secretBox }: AccountDeps, { caller }: Call): Promise<Answer> {
  const grants = await listAccountGrants(pool, new SealedRecords(pool, secretBox), caller.accountId);
  return { status: 200, body: { items: grants.map(grantResource) } };
}

async function revoke({ pool }: AccountDeps, { caller, id }: Call): Promise<Answer> {
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
