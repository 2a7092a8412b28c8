import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { CookieOptions, Request, Response } from 'express';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import {
  admitDashboardRequest,
  endLeastUsedDashboardSessions,
  insertDashboardSession,
  isKnownNetwork,
} from '../../../shared/accounts/dashboard-sessions.ts';
import type { StoredDashboardSession } from '../../../shared/accounts/dashboard-sessions.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html } from '../../../shared/http/html.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { newSessionMail, sendSecurityMail } from '../account/security-mails.ts';
import type { Caller } from '../admission/caller.ts';
import { ApiError } from '../http/api-error.ts';
import { cookieOf } from '../signup/link-router.ts';
import { networksOf } from '../signup/signup-limits.ts';
import type { DashboardDeps } from './dashboard.ts';
import type { PageRoute } from './page.ts';

const SESSION = 'dashboard_session';
const VISITOR = 'dashboard_visitor';
/** 160 bits. */
const LENGTH = 32;
const VALUE = /^[0-9a-z]{32}$/;

export function newCookieValue(): string {
  return randomText(LENGTH);
}

export type DashboardCookies = ReturnType<typeof createDashboardCookies>;

/** A browser's cookies for the dashboard, which are sent to its pages (`folder`) only. */
export function createDashboardCookies(folder: string, isHttps: boolean) {
  const options: CookieOptions = { path: folder, httpOnly: true, sameSite: 'lax', secure: isHttps };
  /** Undefined when there is none or it is malformed. */
  const valueOf = (name: string) => (request: Request) => {
    const value = cookieOf(request, name);
    return value !== undefined && VALUE.test(value) ? value : undefined;
  };
  return {
    session: valueOf(SESSION),
    setSession: (response: Response, token: string, seconds: number) =>
      void response.cookie(SESSION, token, { ...options, maxAge: seconds * 1000 }),
    clearSession: (response: Response) => void response.clearCookie(SESSION, options),
    /** The random value of a browser without a session, for its forms and its sign-in. */
    visitor: valueOf(VISITOR),
    setVisitor: (response: Response): string => {
      const value = newCookieValue();
      response.cookie(VISITOR, value, options);
      return value;
    },
    clearVisitor: (response: Response) => void response.clearCookie(VISITOR, options),
  };
}

export interface SignedIn {
  session: StoredDashboardSession;
  account: StoredAccount;
  token: string;
}

/**
 * Requests of one session. They do not count for the account's own limits. Who goes through matches with keys, one a
 * second, stays below it.
 */
const PER_MINUTE = 120;

/** SHA-256: the cookie is random, so a slow or keyed hash would protect nothing more. */
export function hashSessionToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Finds the session of a request's cookie and takes one of its requests.
 *
 * @param own the limit of a route that a page asks by itself. It counts apart, so that pages stay available.
 * @throws ApiError rate_limited
 */
export async function admitRequest(
  pool: Queryable,
  cookies: DashboardCookies,
  request: Request,
  own?: PageRoute['ownLimit'],
): Promise<SignedIn | undefined> {
  const token = cookies.session(request);
  if (token === undefined) return undefined;
  const { name, perMinute, what } = own ?? { name: 'dashboard', perMinute: PER_MINUTE, what: 'pages' };
  const limit = { name, maxUses: perMinute, seconds: 60 };
  const admitted = await admitDashboardRequest(pool, hashSessionToken(token), limit);
  if (admitted === undefined) return undefined;
  const { session, account, retryAfter } = admitted;
  if (retryAfter > 0) {
    const message = `Too many requests: the limit is ${perMinute} ${what} a minute. Try again in ${retryAfter} s.`;
    throw new ApiError('rate_limited', message, { retryAfter });
  }
  return { session, account, token };
}

/** The person as a caller of the API's routes. A session may do what a key with every permission may. */
export function callerOf({ session, account: { id, balance, pack } }: SignedIn): Caller {
  return { keyId: undefined, sessionId: session.id, accountId: id, scopes: [...KEY_SCOPES], balance, pack };
}

export const SESSION_SECONDS = 30 * 86_400;
const ID_LENGTH = 12;
/** Each session has its own limit of requests, so more sessions would be a way around it. */
const MAX_SESSIONS = 10;
const USER_AGENT_LENGTH = 300;

/** @property isNew whether the sign-in opened the account, which has no other networks to compare with */
export type NewSession = { accountId: string; email: string; isNew: boolean };

/**
 * Opens a session with a new random value, whatever the browser sent before, and tells the owner when it comes from a
 * network that the account had no session from. The account's eleventh session ends the one that was used longest ago.
 *
 * @returns the value for the cookie; undefined when the account is not active or has another address by now
 */
export async function openSession(
  deps: DashboardDeps,
  request: Request,
  { accountId, email, isNew }: NewSession,
): Promise<string | undefined> {
  const token = newCookieValue();
  const [{ network }] = networksOf(request.ip);
  const userAgent = (request.get('User-Agent') ?? '').replace(/\p{C}/gu, ' ').slice(0, USER_AGENT_LENGTH);
  const isKnown = isNew || (await isKnownNetwork(deps.pool, accountId, network));
  const isOpen = await insertDashboardSession(deps.pool, {
    tokenHash: hashSessionToken(token),
    id: `ses_${randomText(ID_LENGTH)}`,
    accountId,
    email,
    network,
    userAgent,
    validSeconds: SESSION_SECONDS,
  });
  if (!isOpen) return undefined;
  await endLeastUsedDashboardSessions(deps.pool, accountId, MAX_SESSIONS);
  if (!isKnown) {
    const account = await findAccount(deps.pool, accountId);
    const what = { network, userAgent, at: new Date(deps.clock()) };
    if (account) await sendSecurityMail(deps, newSessionMail(account.email, what, deps.dashboardUrl), 'a new network');
  }
  return token;
}

export const CSRF_FIELD = 'form_token';

/** HMAC-SHA256 of a constant, keyed with the cookie's value: it needs no storage and does not reveal the cookie. */
export function csrfTokenOf(cookie: string): string {
  return createHmac('sha256', cookie).update('forum-monitor dashboard form v1').digest('base64url');
}

export function csrfFieldOf(cookie: string): Html {
  return html`<input type="hidden" name="${CSRF_FIELD}" value="${csrfTokenOf(cookie)}" />`;
}

/** The cookie that came with a form, and the host of the dashboard's public address. */
type CsrfCheck = { cookie: string | undefined; publicHost: string };

/** @throws ApiError invalid_request for a form that was not sent from a page of this site */
export function requireCsrfToken(request: Request, holder: CsrfCheck): void {
  if (hasCsrfToken(request, holder)) return;
  throw new ApiError(
    'invalid_request',
    'This form has expired or was not sent from this site. Nothing was changed. Reload the page and try again.',
  );
}

/**
 * Whether a form was sent from a page of this site: by the origin that the browser reports, and by the form's token,
 * which other sites cannot read. The origin must be the host that the request was sent to, so that localhost and
 * 127.0.0.1 both work, or the public one, where a proxy replaces the Host header.
 */
export function hasCsrfToken(request: Request, { cookie, publicHost }: CsrfCheck): boolean {
  const [site, origin] = [request.get('Sec-Fetch-Site'), request.get('Origin')];
  // `none`: the person sent it again, for instance by restoring a closed window.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (origin !== undefined && !isHost(origin, request.host) && !isHost(origin, publicHost)) return false;
  const given = (request.body as Record<string, unknown> | undefined)?.[CSRF_FIELD];
  if (typeof given !== 'string' || cookie === undefined) return false;
  const [left, right] = [Buffer.from(given), Buffer.from(csrfTokenOf(cookie))];
  return left.length === right.length && timingSafeEqual(left, right);
}

function isHost(origin: string, host: string | undefined): boolean {
  const named = URL.parse(origin)?.host;
  return named !== undefined && named === URL.parse(`http://${host ?? ''}`)?.host;
}
