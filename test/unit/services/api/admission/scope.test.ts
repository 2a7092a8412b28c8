import { describe, expect, test } from 'vitest';
import { KEY_SCOPES } from '../../../../../schemas/api/account.ts';
import { checkDeclaredScopes, requireScope } from '../../../../../services/api/admission/scope.ts';

describe('requireScope', () => {
  const [key, token] = ['kkkkkkkk', undefined];

  test.each([
    ['a key with the scope', key, ['forum:read'], 'forum:read'],
    ['a key with all scopes', key, [...KEY_SCOPES], 'account'],
    ['a key without any scope, where any key will do', key, [], 'any key'],
    ['a token with the scope', token, ['forum:read', 'monitors'], 'forum:read'],
    ["a token for monitors to monitors' reads", token, ['monitors'], 'monitors:read'],
    ["a token for monitors to monitors' changes", token, ['monitors'], 'monitors:write'],
  ] as const)('admits %s', (_who, keyId, scopes, scope) => {
    expect(() => requireScope({ keyId, scopes: [...scopes] }, scope)).not.toThrow();
  });

  test.each([
    ['key', key, [], 'forum:read'],
    ['key', key, ['monitors:write'], 'monitors:read'],
    ['key', key, ['monitors:read'], 'monitors:write'],
    ['key', key, ['forum:read', 'monitors:read', 'monitors:write'], 'account'],
    ['key with a scope of tokens', key, ['monitors'], 'monitors:read'],
    ['token', token, ['monitors'], 'forum:read'],
    ['token', token, ['forum:read'], 'monitors:read'],
    ['token with scopes of keys', token, ['account', 'monitors:write'], 'account'],
    ['token with scopes of keys', token, ['account', 'monitors:write'], 'monitors:write'],
  ] as const)('refuses a %s that lacks the scope', (what, keyId, scopes, scope) => {
    expect(() => requireScope({ keyId, scopes: [...scopes] }, scope)).toThrow(
      expect.objectContaining({
        code: 'insufficient_scope',
        message: `This ${what.split(' ')[0]} lacks the permission ${scope}.`,
      }) as Error,
    );
  });
});

describe('checkDeclaredScopes', () => {
  test('accepts routes that declare what their paths require', () => {
    expect(() =>
      checkDeclaredScopes([
        { method: 'get', path: '/v1/forum/post', scope: 'forum:read' },
        { method: 'get', path: '/v1/monitors', scope: 'monitors:read' },
        { method: 'post', path: '/v1/monitors/:id/pause', scope: 'monitors:write' },
        { method: 'delete', path: '/v1/account', scope: 'account' },
        { method: 'get', path: '/v1/forums', scope: 'any key' },
      ]),
    ).not.toThrow();
  });

  test.each([
    ['a scope outside its path', { method: 'get', path: '/v1/other', scope: 'forum:read' }],
    ['no scope below the path of one', { method: 'get', path: '/v1/forum/x', scope: 'any key' }],
    ['the scope of another path', { method: 'get', path: '/v1/forum/x', scope: 'account' }],
    ['the scope of reads for a change', { method: 'patch', path: '/v1/monitors/:id', scope: 'monitors:read' }],
    ['the scope of changes for a read', { method: 'get', path: '/v1/monitors/:id', scope: 'monitors:write' }],
  ] as const)('throws for a route that declares %s', (_what, route) => {
    expect(() => checkDeclaredScopes([route])).toThrow(`The route ${route.method} ${route.path} declares`);
  });
});
