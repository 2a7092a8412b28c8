import type { Response } from 'express';
import { expect, test } from 'vitest';
import { createDashboardCookies } from '../../../../../services/api/dashboard/sessions.ts';

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
