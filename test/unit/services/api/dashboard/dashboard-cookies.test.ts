import type { Request, Response } from 'express';
import { expect, test } from 'vitest';
import { createDashboardCookies, newCookieValue } from '../../../../../services/api/dashboard/dashboard-cookies.ts';

/** What a response's cookie method was given. */
function setBy(isHttps: boolean): unknown[] {
  let given: unknown[] = [];
  const response = { cookie: (...all: unknown[]) => void (given = all) } as unknown as Response;
  createDashboardCookies('/app/dashboard', isHttps).setSession(response, 'x', 60);
  return given;
}

test('a session is for its path, for no script, and on https for https only', () => {
  const options = { path: '/app/dashboard', httpOnly: true, sameSite: 'lax', maxAge: 60_000 };
  expect(setBy(true)).toEqual(['dashboard_session', 'x', { ...options, secure: true }]);
  expect(setBy(false)).toEqual(['dashboard_session', 'x', { ...options, secure: false }]);
});

test('values that cannot be ours are not read', () => {
  const cookies = createDashboardCookies('/dashboard', false);
  const sessionIn = (cookie: string) => cookies.session({ get: () => cookie } as unknown as Request);
  const value = newCookieValue();
  expect(value).toMatch(/^[0-9a-hjkmnp-tv-z]{32}$/);
  expect(sessionIn(`a=b; dashboard_session=${value}`)).toBe(value);
  for (const other of ['', 'x', `${value}0`, value.toUpperCase(), `${value.slice(1)}"`]) {
    expect(sessionIn(`dashboard_session=${other}`)).toBeUndefined();
  }
});
