import { describe, expect, test } from 'vitest';
import { declaredScopes, READ_FORUM, requireScope, USE_MONITORS } from '../../../../../services/api/admission/scope.ts';

describe('requireScope', () => {
  const [key, token] = ['kkkkkkkk', undefined];

  test.each([
    ['a key with the scope', key, ['forum:read'], READ_FORUM],
    ['a key without any scope, which monitors do not need', key, [], USE_MONITORS],
    ['a token with the scope', token, ['forum:read', 'monitors'], READ_FORUM],
    ['a token with the scope', token, ['monitors'], USE_MONITORS],
  ])('admits %s', (_who, keyId, scopes, scope) => {
    expect(() => requireScope({ keyId, scopes }, scope)).not.toThrow();
  });

  test.each([
    ['key', key, [], READ_FORUM],
    ['key', key, ['monitors'], READ_FORUM],
    ['token', token, ['monitors'], READ_FORUM],
    ['token', token, ['forum:read'], USE_MONITORS],
    ['token', token, [], USE_MONITORS],
  ])('refuses a %s that lacks the scope', (what, keyId, scopes, scope) => {
    expect(() => requireScope({ keyId, scopes }, scope)).toThrow(
      expect.objectContaining({
        code: 'insufficient_scope',
        message: `This ${what} lacks the permission ${scope.name}.`,
      }) as Error,
    );
  });
});

describe('declaredScopes', () => {
  test('returns each declared scope once', () => {
    const routes = [
      { path: '/v1/forum/post', scope: READ_FORUM },
      { path: '/v1/forum/user', scope: READ_FORUM },
      { path: '/v1/monitors', scope: USE_MONITORS },
      { path: '/v1/forums' },
    ];
    expect(declaredScopes(routes)).toEqual([READ_FORUM, USE_MONITORS]);
  });

  test.each([
    ['a route outside the path of its scope', [{ path: '/v1/other', scope: READ_FORUM }]],
    ['a route that declares nothing below the path of a scope', [{ path: '/v1/forum/x' }]],
    ['a route that declares another scope than its path requires', [{ path: '/v1/forum/x', scope: USE_MONITORS }]],
  ])('throws for %s', (_what, routes) => {
    const all = [{ path: '/v1/forum/post', scope: READ_FORUM }, ...routes];
    expect(() => declaredScopes(all)).toThrow(`The route ${routes[0]!.path} declares`);
  });
});
