import { Router, urlencoded } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { CODE_SECONDS } from '../../../shared/accounts/rules/credentials.ts';
import { html } from '../../../shared/http/html.ts';
import { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import { endDashboardSessionOfCookie } from '../../../shared/accounts/dashboard-sessions.ts';
import { toApiError } from '../http/api-error.ts';
import { methodNotAllowed } from '../http/route.ts';
import { createOAuthLimits } from '../oauth/oauth-limits.ts';
import { createSignIn, signInProblem } from '../signup/sign-in.ts';
import type { SignIn } from '../signup/sign-in.ts';
import { DASHBOARD_SIGN_IN } from '../signup/code-mail.ts';
import { createLinkRouter, linkProblem, tooOldPage } from '../signup/link-router.ts';
import type { LinkPage } from '../signup/link-router.ts';
import type { PagesDeps } from './dashboard.ts';
import { sendShownPage } from './layout.ts';
import { FormFields } from './page.ts';
import type { ShownPage } from './page.ts';
import { field } from './parts.ts';
import {
  admitRequest,
  csrfFieldOf,
  hashSessionToken,
  openSession,
  requireCsrfToken,
  SESSION_SECONDS,
} from './sessions.ts';
import type { NewSession } from './sessions.ts';

const PATH = '/sign-in';
const CODE = '/sign-in/code';
const LINK = '/sign-in/link';
const SIGN_OUT = '/sign-out';
/** Sign-ins under way, by the hash of their browser's cookie. */
const MODEL = 'DashboardSignIn';
/** An address of 254 characters, each percent-encoded, and the form's token. Strangers may send these forms. */
const FORM_LIMIT = 4 * 1024;
const MAX_FIELDS = 10;
const TOO_LATE = { outcome: 'expired' } as const;

interface Step {
  pages: PagesDeps;
  signIn: SignIn;
  records: SealedRecords;
  request: Request;
  response: Response;
  visitor: string;
}

/** A sign-in under way belongs to the browser that started it: it is stored under the hash of that browser's cookie. */
export function createSignInRouter(pages: PagesDeps): Router {
  const { deps, address } = pages;
  const signIn = createSignIn(deps, DASHBOARD_SIGN_IN, address.url + LINK);
  const records = new SealedRecords(deps.pool, deps.secretBox);
  const router = Router();
  const readForm = urlencoded({ extended: false, limit: FORM_LIMIT, parameterLimit: MAX_FIELDS });
  const handle =
    (work: (step: Step) => Promise<void>, isForm: boolean): RequestHandler =>
    async (request, response) => {
      response.set('Cache-Control', 'no-store');
      // The cookie must have come with the form: one that is set by the response proves nothing.
      const cookie = pages.cookies.visitor(request);
      if (isForm) requireCsrfToken(request, { cookie, publicHost: address.publicHost });
      const visitor = cookie ?? pages.cookies.setVisitor(response);
      await work({ pages, signIn, records, request, response, visitor });
    };
  router.get(address.mount + PATH, handle(showAddress, false));
  router.post(address.mount + PATH, readForm, handle(takeAddress, true));
  router.get(address.mount + CODE, handle(showCode, false));
  router.post(address.mount + CODE, readForm, handle(takeCode, true));
  for (const path of [PATH, CODE]) router.all(address.mount + path, methodNotAllowed(['GET', 'HEAD', 'POST']));
  router.use(createLinkRouter(linkPage(pages, signIn), createOAuthLimits(deps.pool)('link')));
  router.post(address.mount + SIGN_OUT, readForm, (request, response) => signOut(pages, request, response));
  router.all(address.mount + SIGN_OUT, methodNotAllowed(['POST']));
  return router;
}

async function showAddress(step: Step): Promise<void> {
  const { pages, request, response } = step;
  if ((await admitRequest(pages.deps.pool, pages.cookies, request)) !== undefined) {
    response.redirect(303, pages.frame.path(nextOf(request)));
    return;
  }
  showAddressForm(step);
}

async function takeAddress(step: Step): Promise<void> {
  const { pages, signIn, records, request, response, visitor } = step;
  const email = new FormFields(request.body).text('email').slice(0, 1_000);
  try {
    const token = await signIn.sendCode(email, request.ip);
    const payload = { token, email, next: nextOf(request) };
    await records.put({ model: MODEL, id: visitor, payload, validSeconds: CODE_SECONDS });
  } catch (error) {
    const refusal = toApiError(error);
    if (refusal === undefined || refusal.status === 503) throw error;
    if (refusal.retryAfter !== undefined) response.set('Retry-After', String(refusal.retryAfter));
    showAddressForm(step, { email, problem: refusal.message.replace(/^email: /, ''), status: refusal.status });
    return;
  }
  response.redirect(303, pages.frame.path(CODE));
}

async function showCode(step: Step): Promise<void> {
  const { pages, records, response, visitor } = step;
  const found = await records.find(MODEL, visitor);
  if (found === undefined) response.redirect(303, pages.frame.path(PATH));
  else showCodeForm(step, String(found.payload.email));
}

async function takeCode(step: Step): Promise<void> {
  const { pages, signIn, records, request, response, visitor } = step;
  const found = await records.find(MODEL, visitor);
  if (found === undefined) {
    response.redirect(303, pages.frame.path(PATH));
    return;
  }
  const code = new FormFields(request.body).code('code');
  const result = await signIn.verify(String(found.payload.token), code, request.ip);
  if (result.outcome === 'signed in') {
    await records.delete(MODEL, visitor);
    if (await startSession(pages, request, response, result)) {
      response.redirect(303, pages.frame.path(pathBelow(String(found.payload.next))));
      return;
    }
  }
  const problem = signInProblem(result.outcome === 'signed in' ? TOO_LATE : result);
  if (result.outcome === 'wrong' && result.triesLeft > 0) {
    showCodeForm(step, String(found.payload.email), problem);
    return;
  }
  await records.delete(MODEL, visitor);
  showAddressForm(step, { email: String(found.payload.email), problem, status: 400 });
}

function linkPage(pages: PagesDeps, signIn: SignIn): LinkPage {
  const { address } = pages;
  return {
    path: address.mount + LINK,
    url: address.url + LINK,
    title: 'Sign in',
    question: `Press the button to sign in to the dashboard at ${address.publicHost} in this browser.`,
    button: 'Sign in',
    async confirm(linkHash, response) {
      const result = await signIn.confirmLink(linkHash, response.req.ip);
      if (result === undefined) return tooOldPage(response);
      if (result.outcome === 'signed in' && (await startSession(pages, response.req, response, result))) {
        response.redirect(303, address.folder);
        return undefined;
      }
      return linkProblem(response, 400, signInProblem(result.outcome === 'signed in' ? TOO_LATE : result));
    },
  };
}

/** Replaces the session of the browser. @returns false when the account was closed or left its address */
async function startSession(
  { deps, cookies }: PagesDeps,
  request: Request,
  response: Response,
  account: NewSession,
): Promise<boolean> {
  const before = cookies.session(request);
  if (before !== undefined) await endDashboardSessionOfCookie(deps.pool, hashSessionToken(before));
  const token = await openSession(deps, request, account);
  if (token === undefined) return false;
  cookies.clearVisitor(response);
  cookies.setSession(response, token, SESSION_SECONDS);
  return true;
}

/** Takes no use of the session's limit: a person who requested too many pages can still sign out. */
async function signOut(pages: PagesDeps, request: Request, response: Response): Promise<void> {
  const { deps, address, cookies, frame } = pages;
  const cookie = cookies.session(request);
  if (cookie !== undefined) {
    requireCsrfToken(request, { cookie, publicHost: address.publicHost });
    await endDashboardSessionOfCookie(deps.pool, hashSessionToken(cookie));
  }
  cookies.clearSession(response);
  sendShownPage(response, frame, signedOutPage(frame.path(PATH)), undefined);
}

export function signedOutPage(signInPath: string): ShownPage {
  return { title: 'You are signed out', content: html`<p><a href="${signInPath}">Sign in again</a></p>` };
}

/** The path that a request names, or an empty one unless it stays below the dashboard. */
export function pathBelow(given: string): string {
  return BELOW.test(given) && given.length <= 200 ? given : '';
}

const BELOW = /^\/(?:[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*)?$/;

/** The page to show after the sign-in; the overview unless the address names a page of the dashboard. */
function nextOf(request: Request): string {
  return pathBelow(new FormFields(request.query).text('next'));
}

/** Only an installation on a person's own machine is without HTTPS, and it may have no way to send mail. */
const DEMO = html`<p class="note">
  On your own machine, a link signs you in as the demo account. This prints it:
  <code>npm run --silent admin -- account sign-in-link --email demo@localhost</code>
</p>`;

function showAddressForm(
  { pages: { frame, address }, request, response, visitor }: Step,
  { email, problem, status }: { email: string; problem?: string; status: number } = { email: '', status: 200 },
): void {
  const next = nextOf(request);
  const action = frame.path(`${PATH}${next === '' ? '' : `?next=${encodeURIComponent(next)}`}`);
  const content = html`<p class="note">
      Forum monitor watches every new post and comment for your keywords, and delivers each match within seconds.
    </p>
    <form method="post" action="${action}">
      ${csrfFieldOf(visitor)}
      ${field({
        name: 'email',
        label: 'Your e-mail address',
        type: 'email',
        value: email,
        autocomplete: 'email',
        required: true,
        problem,
        hint: 'We mail you a code. A new address opens a free account with 200 credits.',
        autofocus: true,
      })}
      <button>Send the code</button>
    </form>
    ${!address.isHttps && DEMO}`;
  sendShownPage(response, frame, { title: 'Sign in', status, content }, undefined);
}

function showCodeForm({ pages: { frame }, response, visitor }: Step, email: string, problem?: string): void {
  const content = html`<p>
      We mailed a 6-digit code to <strong>${email}</strong>. It is valid for ${CODE_SECONDS / 60} minutes. If the mail
      contains a link instead, open it in this browser.
    </p>
    <form method="post" action="${frame.path(CODE)}">
      ${csrfFieldOf(visitor)}
      ${field({
        name: 'code',
        label: 'Code',
        value: '',
        autocomplete: 'one-time-code',
        inputmode: 'numeric',
        required: true,
        problem,
        autofocus: true,
      })}
      <button>Sign in</button>
    </form>
    <p><a href="${frame.path(PATH)}">Use another address, or get a new code</a></p>`;
  const status = problem === undefined ? 200 : 400;
  sendShownPage(response, frame, { title: 'Enter the code', status, content }, undefined);
}
