import type { CookieOptions, Request, Response } from 'express';
import { randomText } from '../../../shared/domain/identifiers.ts';
import { cookieOf } from '../signup/cookies.ts';

/** A browser's cookies for the dashboard. They are sent to its pages only, never to /v1. */
export interface DashboardCookies {
  /** The session's random value; undefined when there is none or it is malformed. */
  session(request: Request): string | undefined;
  setSession(response: Response, token: string, seconds: number): void;
  clearSession(response: Response): void;
  /** The random value of a browser without a session, for its forms and its sign-in. Sets the cookie when absent. */
  visitor(request: Request, response: Response): string;
  /** The same without setting it. */
  knownVisitor(request: Request): string | undefined;
  clearVisitor(response: Response): void;
}

const SESSION = 'dashboard_session';
const VISITOR = 'dashboard_visitor';
/** 160 bits. */
const LENGTH = 32;
const VALUE = /^[0-9a-z]{32}$/;

/** A new random value for a cookie. */
export function newCookieValue(): string {
  return randomText(LENGTH);
}

/** @param folder the path of the pages */
export function createDashboardCookies(folder: string, isHttps: boolean): DashboardCookies {
  const options: CookieOptions = { path: folder, httpOnly: true, sameSite: 'lax', secure: isHttps };
  const valueOf = (request: Request, name: string) => {
    const value = cookieOf(request, name);
    return value !== undefined && VALUE.test(value) ? value : undefined;
  };
  return {
    session: (request) => valueOf(request, SESSION),
    setSession: (response, token, seconds) => {
      response.cookie(SESSION, token, { ...options, maxAge: seconds * 1000 });
    },
    clearSession: (response) => {
      response.clearCookie(SESSION, options);
    },
    visitor: (request, response) => {
      const known = valueOf(request, VISITOR);
      if (known !== undefined) return known;
      const value = newCookieValue();
      response.cookie(VISITOR, value, options);
      return value;
    },
    knownVisitor: (request) => valueOf(request, VISITOR),
    clearVisitor: (response) => {
      response.clearCookie(VISITOR, options);
    },
  };
}
