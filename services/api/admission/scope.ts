import { ApiError } from '../http/api-error.ts';
import type { Caller } from './authentication.ts';

/** A permission of keys and access tokens that routes and tools declare. */
export interface Scope {
  name: string;
  /**
   * Every path from here on requires the scope, even one without a route: a refusal must not reveal which paths exist.
   */
  path: string;
  /** Whether API keys need it; access tokens always do. */
  isForKeys: boolean;
}

export const READ_FORUM: Scope = { name: 'forum:read', path: '/v1/forum', isForKeys: true };
/** Allows a token to see and change monitors. */
export const USE_MONITORS: Scope = { name: 'monitors', path: '/v1/monitors', isForKeys: false };

/** @throws ApiError insufficient_scope */
export function requireScope({ keyId, scopes }: Pick<Caller, 'keyId' | 'scopes'>, scope: Scope): void {
  const isKey = keyId !== undefined;
  if (scopes.includes(scope.name) || (isKey && !scope.isForKeys)) return;
  throw new ApiError('insufficient_scope', `This ${isKey ? 'key' : 'token'} lacks the permission ${scope.name}.`);
}

/**
 * Returns each scope that routes declare once.
 *
 * @throws Error when a route declares another scope than its path requires, or none: the permission that is checked
 * would not be the one it names
 */
export function declaredScopes(routes: readonly { path: string; scope?: Scope }[]): Scope[] {
  const scopes = [...new Set(routes.flatMap(({ scope }) => scope ?? []))];
  for (const { path, scope } of routes) {
    const covering = scopes.find((candidate) => path === candidate.path || path.startsWith(`${candidate.path}/`));
    if (covering !== scope) {
      const [declared, required] = [scope?.name ?? 'no scope', covering?.name ?? 'none'];
      throw new Error(`The route ${path} declares ${declared}, but its path requires ${required}.`);
    }
  }
  return scopes;
}
