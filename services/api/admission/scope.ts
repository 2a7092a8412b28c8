import type { KeyScope } from '../../../schemas/api/account.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from './authentication.ts';

/** The permission that a route requires; `any key`: every valid key will do. */
export type RequiredScope = KeyScope | 'any key';

/**
 * Every path from `path` on requires these scopes, even one without a route: a refusal must not reveal which paths
 * exist.
 */
interface ScopedPath {
  path: string;
  /** For GET and HEAD. */
  reads: KeyScope;
  /** For all other methods. */
  writes: KeyScope;
}

export const SCOPED_PATHS: readonly ScopedPath[] = [
  { path: '/v1/forum', reads: 'forum:read', writes: 'forum:read' },
  { path: '/v1/monitors', reads: 'monitors:read', writes: 'monitors:write' },
  { path: '/v1/sql', reads: 'monitors:write', writes: 'monitors:write' },
  { path: '/v1/account', reads: 'account', writes: 'account' },
];

/** The scopes that access tokens may have, each with the permissions that it includes. */
const TOKEN_SCOPES: ReadonlyMap<string, readonly KeyScope[]> = new Map([
  ['forum:read', ['forum:read']],
  ['monitors', ['monitors:read', 'monitors:write']],
]);

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The permission that a request to the path, or below it, requires. */
export function scopeOf({ reads, writes }: ScopedPath, method: string): KeyScope {
  return READS.has(method.toUpperCase()) ? reads : writes;
}

/** @throws ApiError insufficient_scope, which names the missing permission */
export function requireScope({ keyId, scopes }: Pick<Caller, 'keyId' | 'scopes'>, scope: RequiredScope): void {
  if (scope === 'any key') return;
  const isKey = keyId !== undefined;
  const granted = isKey ? scopes : scopes.flatMap((name) => TOKEN_SCOPES.get(name) ?? []);
  if (granted.includes(scope)) return;
  throw new ApiError('insufficient_scope', `This ${isKey ? 'key' : 'token'} lacks the permission ${scope}.`);
}

/** The permission that a path requires, whether or not there is such a route. */
export function scopeOfPath(method: string, path: string): RequiredScope {
  const scoped = SCOPED_PATHS.find((covering) => path === covering.path || path.startsWith(`${covering.path}/`));
  return scoped === undefined ? 'any key' : scopeOf(scoped, method);
}

/**
 * Compares what routes declare with what their paths require.
 *
 * @throws Error for a route that declares another permission: the one that is checked would not be the one it names
 */
export function checkDeclaredScopes(routes: readonly { method: string; path: string; scope: RequiredScope }[]): void {
  for (const { method, path, scope } of routes) {
    const required = scopeOfPath(method, path);
    if (scope !== required) {
      throw new Error(`The route ${method} ${path} declares ${scope}, but its path requires ${required}.`);
    }
  }
}
