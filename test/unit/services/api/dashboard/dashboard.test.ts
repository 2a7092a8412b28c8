import { expect, test } from 'vitest';
import { dashboardAddress } from '../../../../../services/api/dashboard/dashboard.ts';
import { pathBelow } from '../../../../../services/api/dashboard/sign-in-router.ts';

test('the address follows DASHBOARD_URL, with the prefix that a proxy serves it under', () => {
  expect(dashboardAddress('http://localhost:8080')).toEqual({
    mount: '/dashboard',
    folder: '/dashboard',
    isHttps: false,
    url: 'http://localhost:8080/dashboard',
    publicHost: 'localhost:8080',
  });
  expect(dashboardAddress('https://example.com/app')).toEqual({
    mount: '/dashboard',
    folder: '/app/dashboard',
    isHttps: true,
    url: 'https://example.com/app/dashboard',
    publicHost: 'example.com',
  });
});

test.each(['/', '/monitors', '/monitors/mon_0123456789ab', '/monitors/mon_0123456789ab/edit', '/a-b/C_d'])(
  '%s is a path of the dashboard',
  (path) => expect(pathBelow(path)).toBe(path),
);

test.each([
  '//evil.example',
  '/\\evil.example',
  '/%2F%2Fevil.example',
  'https://evil.example',
  '/a/../..',
  '/a?b=c',
  '/a#b',
  '/a\n',
  `/${'a'.repeat(200)}`,
])('%j is none, since it may lead elsewhere', (path) => expect(pathBelow(path)).toBe(''));
