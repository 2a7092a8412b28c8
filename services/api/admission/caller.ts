import type { KeyScope } from '../../../schemas/api/account.ts';
import { ApiError } from '../http/api-error.ts';

/** The account that sent a request, and the permissions of its key or token. */
export interface Caller {
  /** undefined: the request came with an access token, or from the dashboard. */
  keyId: string | undefined;
  /** Of the dashboard; absent on requests from elsewhere. */
  sessionId?: string;
  accountId: string;
  scopes: string[];
  /** Credits at the time of admission. */
  balance: number;
  /** Price in dollars of the account's largest pack; 0: none. */
  pack: number;
}

/** The credential is valid, so its owner may be told why it is refused. */
export function accountFrozen(): ApiError {
  return new ApiError('account_frozen', 'This account is frozen. Contact the operator of the service.');
}

/** The same for every reason, so that answers reveal nothing about keys. */
export function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'Send a valid API key as "Authorization: Bearer KEY" or "X-Api-Key: KEY".');
}

/** The permission that a route requires; `any key`: every valid key will do. */
export type RequiredScope = KeyScope | 'any key';

/**
 * Every path from `path` on requires these scopes, even one without a route: a refusal must not reveal which paths
 * exist.
 */
export interface ScopedPath {
  path: string;
  /** For GET and HEAD. */
  reads: RequiredScope;
  /** For all other methods. */
  writes: RequiredScope;
}

/**
 * What the routes below each `/v1/NAME` require.
 *
 * @throws Error where they differ: a path without a route would require something else than its neighbours
 */
export function scopedPaths(routes: readonly { method: string; path: string; scope: RequiredScope }[]): ScopedPath[] {
  const below = Map.groupBy(routes, ({ path }) => path.split('/').slice(0, 3).join('/'));
  return [...below].map(([path, onPath]) => {
    const scopeWhere = (isRead: boolean): RequiredScope | undefined => {
      const scopes = new Set(onPath.filter(({ method }) => READS.has(method) === isRead).map(({ scope }) => scope));
      if (scopes.size > 1) throw new Error(`The routes below ${path} require different permissions.`);
      return [...scopes][0];
    };
    const [reads, writes] = [scopeWhere(true), scopeWhere(false)];
    return { path, reads: reads ?? writes!, writes: writes ?? reads! };
  });
}

/** The scopes that access tokens may have, each with the permissions that it includes. */
const TOKEN_SCOPES: ReadonlyMap<string, readonly KeyScope[]> = new Map([
  ['forum:read', ['forum:read']],
  ['monitors', ['monitors:read', 'monitors:write']],
]);

const READS: ReadonlySet<string> = new Set(['get', 'head']);

/** The permission that a request to the path, or below it, requires. */
export function scopeOf({ reads, writes }: ScopedPath, method: string): RequiredScope {
  return READS.has(method.toLowerCase()) ? reads : writes;
}

/** @throws ApiError insufficient_scope, which names the missing permission */
export function requireScope({ keyId, scopes }: Pick<Caller, 'keyId' | 'scopes'>, scope: RequiredScope): void {
  if (scope === 'any key') return;
  const isKey = keyId !== undefined;
  const granted = isKey ? scopes : scopes.flatMap((name) => TOKEN_SCOPES.get(name) ?? []);
  if (granted.includes(scope)) return;
  throw new ApiError('insufficient_scope', `This ${isKey ? 'key' : 'token'} lacks the permission ${scope}.`);
}

/** What a key may do, in the words of the dashboard and of mails. */
export const PERMISSION_WORDS: Readonly<Record<KeyScope, string>> = {
  'forum:read': 'Read and search the forum, using your credits',
  'monitors:read': 'View monitors, their matches and deliveries',
  'monitors:write': 'Create, change and delete monitors',
  account: 'Manage the account: view its ledger, create and revoke keys, delete the account',
};
