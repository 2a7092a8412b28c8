import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { ApiError } from '../http/api-error.ts';
import { html } from '../../../shared/html/html.ts';
import type { Html } from '../../../shared/html/html.ts';

/** The name of the hidden field with a form's token. */
export const FORM_TOKEN = 'form_token';

/**
 * The token of the forms that are shown to the holder of a cookie: HMAC-SHA256 of a constant, keyed with the cookie's
 * random value, so that it needs no storage and does not reveal the cookie.
 */
export function formTokenOf(cookie: string): string {
  return createHmac('sha256', cookie).update('forum-monitor dashboard form v1').digest('base64url');
}

/** The hidden field that belongs into every form for the holder of a cookie. */
export function formTokenField(cookie: string): Html {
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${formTokenOf(cookie)}" />`;
}

/** Who may have sent a form. */
export interface FormHolder {
  /** The random value that the browser's cookie brought with the form; undefined without one. */
  cookie: string | undefined;
  /** The host of the dashboard's public address. */
  publicHost: string;
}

/** @throws ApiError invalid_request for a form that was not sent from a page of this site */
export function refuseForeignForm(request: Request, holder: FormHolder): void {
  if (isOwnForm(request, holder)) return;
  throw new ApiError('invalid_request', 'This form is too old or was not sent from this site. Nothing was changed.');
}

/**
 * Whether a form was sent from a page of this site: by what the browser says of its origin, and by the form's token,
 * which other sites cannot read. The origin must be the host that the request was sent to, so that localhost and
 * 127.0.0.1 both work, or the public one, where a proxy replaces the Host header.
 */
export function isOwnForm(request: Request, { cookie, publicHost }: FormHolder): boolean {
  const [site, origin] = [request.get('Sec-Fetch-Site'), request.get('Origin')];
  // `none`: the person sent it again, for instance by restoring a closed window.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (origin !== undefined && !isHost(origin, request.host) && !isHost(origin, publicHost)) return false;
  const given = (request.body as Record<string, unknown> | undefined)?.[FORM_TOKEN];
  if (typeof given !== 'string' || cookie === undefined) return false;
  const [left, right] = [Buffer.from(given), Buffer.from(formTokenOf(cookie))];
  return left.length === right.length && timingSafeEqual(left, right);
}

function isHost(origin: string, host: string | undefined): boolean {
  const named = URL.parse(origin)?.host;
  return named !== undefined && named === URL.parse(`http://${host ?? ''}`)?.host;
}
