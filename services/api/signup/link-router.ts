import { timingSafeEqual } from 'node:crypto';
import { Router, urlencoded } from 'express';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { toApiError } from '../http/api-error.ts';
import { html } from '../../../shared/http/html.ts';
import type { HtmlValue } from '../../../shared/http/html.ts';
import { pageOf, problem, sendPage } from '../../../shared/http/page.ts';
import type { Page } from '../../../shared/http/page.ts';
import { methodNotAllowed } from '../http/route.ts';
import { CODE_SECONDS, hashMailedToken, isLinkToken } from '../../../shared/accounts/rules/credentials.ts';

export interface LinkPage {
  path: string;
  url: string;
  title: string;
  question: string;
  button: string;
  /** Performs the action. @returns the page to show; undefined when it has already answered */
  confirm: (linkHash: Buffer, response: Response) => Promise<Page | undefined>;
}

const BODY_LIMIT = 4 * 1024;
const COOKIE = 'link_page';
const CSRF_LENGTH = 26;
const CSRF_TOKEN = /^[0-9a-z]{26}$/;
export const INCOMPLETE = 'This link is incomplete. Copy all of it.';
const NO_CSRF_TOKEN = 'Open the link in the mail again and press the button there.';
const TOO_OLD = `This link was already used, or is older than ${CODE_SECONDS / 60} minutes. Request a new one.`;

/**
 * Links in mails. GET has no effect, because mail scanners open links: it shows a button and sets a cookie. Only a POST
 * whose form has the cookie's value uses the link, so no other site can submit it. The link itself appears in no
 * Referer and no log.
 */
export function createLinkRouter(page: LinkPage, limit: RequestHandler): Router {
  const router = Router();
  router.use(page.path, protectLink);
  router.get(page.path, (request, response) => {
    const { token } = request.query;
    const isComplete = typeof token === 'string' && isLinkToken(token);
    if (isComplete) showLinkPage(response, buttonPage(page, token, csrfTokenFor(page, request, response)));
    else showLinkPage(response, linkProblem(response, 400, INCOMPLETE));
  });
  router.post(page.path, limit, urlencoded({ extended: false, limit: BODY_LIMIT }), async (request, response) => {
    const { token, proof: csrfToken } = (request.body ?? {}) as Record<string, unknown>;
    let shown: Page | undefined;
    if (!hasCsrfToken(page, request, csrfToken)) shown = linkProblem(response, 400, NO_CSRF_TOKEN);
    else if (typeof token !== 'string' || !isLinkToken(token)) shown = tooOldPage(response);
    else shown = await page.confirm(hashMailedToken(token), response);
    if (shown) showLinkPage(response, shown);
  });
  router.all(page.path, methodNotAllowed(['GET', 'HEAD', 'POST']));
  router.use(page.path, showRefusal);
  return router;
}

export const tooOldPage = (response: Response): Page => linkProblem(response, 400, TOO_OLD);

export function keyPage(title: string, apiKey: string, baseUrl: string, more?: HtmlValue): Page {
  return pageOf(
    title,
    html`<p>Your API key, shown only once:</p>
      <p><code>${apiKey}</code></p>
      <p>
        Store it where your program keeps its secrets, not in a chat. The program sends it as
        <code>Authorization: Bearer KEY</code> to <strong>${baseUrl}</strong>.
      </p>
      ${more}`,
  );
}

export function linkProblem(response: Response, status: number, description: string): Page {
  response.status(status);
  return pageOf('Something went wrong', problem(description));
}

export const protectLink: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex' });
  next();
};

export const showLinkPage = (response: Response, page: Page): void => sendPage(response, page, 'no-referrer');

function buttonPage({ url, title, question, button }: LinkPage, token: string, csrfToken: string): Page {
  return pageOf(
    title,
    html`<p>${question}</p>
      <form method="post" action="${new URL(url).pathname}">
        <input type="hidden" id="token" name="token" value="${token}" />
        <input type="hidden" id="proof" name="proof" value="${csrfToken}" />
        <button>${button}</button>
      </form>
      <p class="note">If you did not ask for this, close this page: nothing happens unless you press the button.</p>`,
  );
}

/** The token that the cookie and the form share. It stays the same for another page that is open in the browser. */
function csrfTokenFor({ url }: LinkPage, request: Request, response: Response): string {
  const given = cookieOf(request, COOKIE);
  const csrfToken = given !== undefined && CSRF_TOKEN.test(given) ? given : randomText(CSRF_LENGTH);
  const { pathname, protocol } = new URL(url);
  response.cookie(COOKIE, csrfToken, {
    path: pathname,
    httpOnly: true,
    sameSite: 'lax',
    secure: protocol === 'https:',
  });
  return csrfToken;
}

/** With `no-referrer`, browsers send `Origin: null` for this form too; then the cookie decides. */
function hasCsrfToken({ url }: LinkPage, request: Request, csrfToken: unknown): boolean {
  const [site, origin, cookie] = [request.get('Sec-Fetch-Site'), request.get('Origin'), cookieOf(request, COOKIE)];
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin !== undefined && origin !== 'null' && origin !== new URL(url).origin) return false;
  if (typeof csrfToken !== 'string' || !CSRF_TOKEN.test(csrfToken) || cookie?.length !== CSRF_LENGTH) return false;
  return timingSafeEqual(Buffer.from(csrfToken), Buffer.from(cookie));
}

const showRefusal: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  const refusal = toApiError(error);
  if (refusal === undefined || refusal.code === 'method_not_allowed') next(error);
  else {
    if (refusal.retryAfter !== undefined) response.set('Retry-After', String(refusal.retryAfter));
    showLinkPage(response, linkProblem(response, refusal.status, refusal.message));
  }
};

/** The value of a request's cookie. When several have its name it is the first, which has the longest path. */
export function cookieOf(request: Request, name: string): string | undefined {
  const pairs = (request.get('Cookie') ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
