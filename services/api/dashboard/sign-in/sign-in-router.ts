import { Router, urlencoded } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { SealedRecords } from '../../../../shared/stores/accounts/sealed-records.ts';
import { endDashboardSessionOfCookie } from '../../../../shared/stores/dashboard/dashboard-sessions.ts';
import { toApiError } from '../../http/error-handler.ts';
import { methodNotAllowed } from '../../http/route.ts';
import { createOAuthLimits } from '../../oauth/oauth-limits.ts';
import { createSignIn } from '../../sign-in/sign-in.ts';
import type { SignedInAccount, SignIn } from '../../sign-in/sign-in.ts';
import { signInProblem } from '../../sign-in/sign-in-problem.ts';
import { DASHBOARD_SIGN_IN } from '../../signup/code-mail.ts';
import { createLinkRouter, linkProblem, tooOldPage } from '../../signup/link-router.ts';
import type { LinkPage } from '../../signup/link-router.ts';
import { CODE_SECONDS } from '../../../../shared/domain/accounts/mailed-tokens.ts';
import { admitVisit, hashSessionToken } from '../admit-visit.ts';
import { pathBelow } from '../dashboard-address.ts';
import type { PagesDeps } from '../dashboard-router.ts';
import { FormFields } from '../form-fields.ts';
import { sendShownPage } from '../layout.ts';
import { formTokenField, refuseForeignForm } from '../own-forms.ts';
import type { ShownPage } from '../page-route.ts';
import { openSession, SESSION_SECONDS } from './open-session.ts';
import { addressPage, codePage, signedOutPage } from './sign-in-pages.ts';

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
  /** The random value of the browser's cookie. */
  visitor: string;
}

/**
 * Signing in by a mailed code, and signing out. The sign-in under way belongs to the browser that started it: its token
 * is kept on the server, under the hash of that browser's cookie.
 */
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
      const visitor = pages.cookies.visitor(request, response);
      // The cookie must have come with the form: one that is set by the answer proves nothing.
      const cookie = pages.cookies.knownVisitor(request);
      if (isForm) refuseForeignForm(request, { cookie, publicHost: address.publicHost });
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
  if ((await admitVisit(pages.deps.pool, pages.cookies, request)) !== undefined) {
    response.redirect(303, pages.frame.path(nextOf(request)));
    return;
  }
  show(step, addressPage(formParts(step, `${PATH}${querySuffix(request)}`)));
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
    const parts = formParts(step, `${PATH}${querySuffix(request)}`);
    const problem = refusal.message.replace(/^email: /, '');
    show(step, addressPage({ ...parts, problem, status: refusal.status }, email));
    return;
  }
  response.redirect(303, pages.frame.path(CODE));
}

async function showCode(step: Step): Promise<void> {
  const { pages, records, response, visitor } = step;
  const found = await records.find(MODEL, visitor);
  if (found === undefined) response.redirect(303, pages.frame.path(PATH));
  else show(step, codePage(formParts(step, CODE), emailAndRestart(step, found.payload)));
}

async function takeCode(step: Step): Promise<void> {
  const { pages, signIn, records, request, response, visitor } = step;
  const found = await records.find(MODEL, visitor);
  if (found === undefined) {
    response.redirect(303, pages.frame.path(PATH));
    return;
  }
  const code = new FormFields(request.body).text('code').replace(/[\s-]/g, '').slice(0, 100);
  const verdict = await signIn.verify(String(found.payload.token), code, request.ip);
  if (verdict.outcome === 'signed in') {
    await records.delete(MODEL, visitor);
    if (await enter(pages, request, response, verdict)) {
      response.redirect(303, pages.frame.path(pathBelow(String(found.payload.next)) ?? ''));
      return;
    }
  }
  const problem = signInProblem(verdict.outcome === 'signed in' ? TOO_LATE : verdict);
  if (verdict.outcome === 'wrong' && verdict.triesLeft > 0) {
    show(step, codePage({ ...formParts(step, CODE), problem, status: 400 }, emailAndRestart(step, found.payload)));
    return;
  }
  await records.delete(MODEL, visitor);
  show(step, addressPage({ ...formParts(step, PATH), problem, status: 400 }, String(found.payload.email)));
}

/** The page of a mailed link, for addresses with too many wrong codes. */
function linkPage(pages: PagesDeps, signIn: SignIn): LinkPage {
  const { address } = pages;
  return {
    path: address.mount + LINK,
    url: address.url + LINK,
    title: 'Sign in',
    question: `The button signs you in to the dashboard at ${address.publicHost}, in this browser.`,
    button: 'Sign in',
    async confirm(linkHash, response) {
      const verdict = await signIn.confirmLink(linkHash, response.req.ip);
      if (verdict === undefined) return tooOldPage(response);
      if (verdict.outcome === 'signed in' && (await enter(pages, response.req, response, verdict))) {
        response.redirect(303, address.folder);
        return undefined;
      }
      response.status(400);
      return linkProblem(signInProblem(verdict.outcome === 'signed in' ? TOO_LATE : verdict));
    },
  };
}

/**
 * Opens a session in this browser, and ends the one that it had.
 *
 * @returns false when the account was closed or got another address since the code was found right
 */
async function enter(
  pages: PagesDeps,
  request: Request,
  response: Response,
  { accountId, email, isNew }: SignedInAccount & { isNew: boolean },
): Promise<boolean> {
  const { deps, cookies } = pages;
  const before = cookies.session(request);
  if (before !== undefined) await endDashboardSessionOfCookie(deps.pool, hashSessionToken(before));
  const userAgent = request.get('User-Agent');
  const asked = { accountId, email, isNewAccount: isNew, clientAddress: request.ip, userAgent };
  const token = await openSession(deps, asked);
  if (token === undefined) return false;
  cookies.clearVisitor(response);
  cookies.setSession(response, token, SESSION_SECONDS);
  return true;
}

/** Takes no use of the session's limit: whoever asked for too many pages can still sign out. */
async function signOut(pages: PagesDeps, request: Request, response: Response): Promise<void> {
  const { deps, address, cookies, frame } = pages;
  const cookie = cookies.session(request);
  if (cookie !== undefined) {
    refuseForeignForm(request, { cookie, publicHost: address.publicHost });
    await endDashboardSessionOfCookie(deps.pool, hashSessionToken(cookie));
  }
  cookies.clearSession(response);
  sendShownPage(response, frame, signedOutPage(frame.path(PATH)), undefined);
}

function formParts({ pages, visitor }: Step, action: string) {
  return { action: pages.frame.path(action), csrfField: formTokenField(visitor) };
}

function emailAndRestart({ pages }: Step, payload: Record<string, unknown>): { email: string; restart: string } {
  return { email: String(payload.email), restart: pages.frame.path(PATH) };
}

/** The page to show after the sign-in; the overview unless the address names a page of the dashboard. */
function nextOf(request: Request): string {
  return pathBelow(new FormFields(request.query).text('next')) ?? '';
}

function querySuffix(request: Request): string {
  const next = nextOf(request);
  return next === '' ? '' : `?next=${encodeURIComponent(next)}`;
}

function show({ pages, response }: Step, page: ShownPage): void {
  sendShownPage(response, pages.frame, page, undefined);
}
