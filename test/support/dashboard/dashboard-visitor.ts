import { hashSessionToken, newCookieValue, CSRF_FIELD, csrfTokenOf } from '../../../services/api/dashboard/sessions.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { insertDashboardSession } from '../../../shared/accounts/dashboard-sessions.ts';

/** A page as a browser without scripts gets it. */
export interface VisitedPage {
  status: number;
  headers: Headers;
  html: string;
  /** Where a redirect leads; null without one. Redirects are not followed. */
  location: string | null;
}

/** A signed-in person's requests to the dashboard. */
export interface DashboardVisitor {
  sessionId: string;
  /** The value of the session's cookie. */
  token: string;
  cookie: string;
  /** @param path below /dashboard: `/monitors` */
  get(path: string, headers?: Record<string, string>): Promise<VisitedPage>;
  /** Sends a form with the token that the session's pages hold. A list is sent as several fields of that name. */
  post(
    path: string,
    fields?: Record<string, string | readonly string[]>,
    headers?: Record<string, string>,
  ): Promise<VisitedPage>;
}

const AN_HOUR = 3_600;

/** Signs an account in by a session of its own, without mail. */
export async function visitDashboard(db: Queryable, url: string, accountId: string): Promise<DashboardVisitor> {
  const token = newCookieValue();
  const sessionId = `ses_${randomText(12)}`;
  const { email } = (await findAccount(db, accountId))!;
  const isOpen = await insertDashboardSession(db, {
    tokenHash: hashSessionToken(token),
    id: sessionId,
    accountId,
    email,
    network: '127.0.0.0/24',
    userAgent: 'test',
    validSeconds: AN_HOUR,
  });
  if (!isOpen) throw new Error('a session needs an active account');
  const cookie = `dashboard_session=${token}`;
  const send = async (path: string, init: RequestInit): Promise<VisitedPage> => {
    const response = await fetch(`${url}/dashboard${path}`, { ...init, redirect: 'manual' });
    const html = await response.text();
    return { status: response.status, headers: response.headers, html, location: response.headers.get('location') };
  };
  return {
    sessionId,
    token,
    cookie,
    get: (path, headers = {}) => send(path, { headers: { cookie, ...headers } }),
    post: (path, fields = {}, headers = {}) => {
      const body = new URLSearchParams({ [CSRF_FIELD]: csrfTokenOf(token) });
      for (const [name, value] of Object.entries(fields)) {
        for (const one of typeof value === 'string' ? [value] : value) body.append(name, one);
      }
      return send(path, { method: 'POST', body, headers: { cookie, ...headers } });
    },
  };
}
