import { Router, urlencoded } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { ApiError, ClientGone } from '../http/api-error.ts';
import { sendStream, StreamedBody } from '../http/answer-stream.ts';
import { methodNotAllowed } from '../http/route.ts';
import { noteAccount } from '../http/request-log.ts';
import { admitVisit, callerOf } from './admit-visit.ts';
import type { SignedIn } from './admit-visit.ts';
import type { DashboardAddress } from './dashboard-address.ts';
import type { DashboardCookies } from './dashboard-cookies.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import { FormFields } from './form-fields.ts';
import { sendShownPage } from './layout.ts';
import type { Frame, Viewer } from './layout.ts';
import { formTokenField, refuseForeignForm } from './own-forms.ts';
import type { PageAnswer, PageRoute, Visit } from './page-route.ts';

/** The longest rule, typed into a form. */
const FORM_LIMIT = 256 * 1024;
/** Fields of a form: a rule has fewer. */
const MAX_FIELDS = 500;

export interface PagesDeps {
  deps: DashboardDeps;
  address: DashboardAddress;
  cookies: DashboardCookies;
  frame: Frame;
}

const formReader: RequestHandler = urlencoded({ extended: false, limit: FORM_LIMIT, parameterLimit: MAX_FIELDS });

/**
 * The pages for signed-in people. Checks come in this order: method, session (else the sign-in page), the session's
 * limit, the form's size, whether the form is our own, then the page's own.
 */
export function createPagesRouter(pages: PagesDeps, routes: readonly PageRoute[]): Router {
  const router = Router();
  const { mount } = pages.address;
  for (const path of new Set(routes.map((route) => route.path))) {
    const onPath = routes.filter((route) => route.path === path);
    // Express matches /dashboard/ too.
    const full = path === '/' ? mount : mount + path;
    for (const route of onPath) {
      router[route.method](full, (request, response) => visitPage(pages, route, request, response));
    }
    const methods = onPath.map(({ method }) => method.toUpperCase());
    router.all(full, methodNotAllowed(methods.includes('GET') ? [...methods, 'HEAD'] : methods));
  }
  return router;
}

async function visitPage(pages: PagesDeps, route: PageRoute, request: Request, response: Response): Promise<void> {
  const { deps, address, cookies, frame } = pages;
  response.set('Cache-Control', 'no-store');
  const signedIn = await admitVisit(deps.pool, cookies, request);
  if (signedIn === undefined) {
    askToSignIn(pages, request, response);
    return;
  }
  noteAccount(response, signedIn.account.id);
  response.locals.viewer = viewerOf(pages, signedIn, request);
  if (route.method === 'post') {
    await readForm(request, response);
    refuseForeignForm(request, { cookie: signedIn.token, publicHost: address.publicHost });
  }
  const answer = await route.handle(visitOf(pages, signedIn, request, response));
  await sendAnswer(response, { answer, cookies, frame });
}

/** Only for signed-in people: strangers could make the process hold as many large forms as it has connections. */
function readForm(request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void formReader(request, response, (error?: Error | 'route' | 'router') => {
      if (error instanceof Error) reject(error);
      else resolve();
    });
  });
}

/** A page that would answer something else than a document says so by a status. */
function askToSignIn({ cookies, address }: PagesDeps, request: Request, response: Response): void {
  cookies.clearSession(response);
  if (request.get('Accept')?.includes('text/event-stream') === true) {
    throw new ApiError('unauthorized', 'Sign in again.');
  }
  const below = request.path.slice(address.mount.length);
  const next = request.method === 'GET' && below.length > 1 ? `?next=${encodeURIComponent(below)}` : '';
  response.redirect(303, `${address.folder}/sign-in${next}`);
}

function viewerOf({ address }: PagesDeps, { account, token }: SignedIn, request: Request): Viewer {
  const current = request.path.slice(address.mount.length);
  return { account, csrfField: formTokenField(token), current: current === '' ? '/' : current };
}

function visitOf(
  { frame }: PagesDeps,
  { account, session, token }: SignedIn,
  request: Request,
  response: Response,
): Visit {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new ClientGone());
  });
  return {
    account,
    session,
    caller: callerOf({ session, account }),
    requestId: String(response.getHeader('X-Request-Id')),
    clientAddress: request.ip,
    host: request.host,
    params: request.params as Record<string, string>,
    query: new FormFields(request.query),
    form: new FormFields(request.body),
    csrfField: formTokenField(token),
    path: frame.path,
    lastEventId: request.get('Last-Event-ID'),
    signal: gone.signal,
    refuseAbandoned: () => {
      if (request.socket.destroyed) throw new ClientGone();
    },
  };
}

async function sendAnswer(
  response: Response,
  { answer, cookies, frame }: { answer: PageAnswer; cookies: DashboardCookies; frame: Frame },
): Promise<void> {
  if ('redirect' in answer) {
    response.redirect(303, answer.redirect.startsWith('/') ? frame.path(answer.redirect) : answer.redirect);
  } else if ('body' in answer) {
    response.set(answer.headers);
    if (!(answer.body instanceof StreamedBody)) response.send(Buffer.from(answer.body));
    else if (response.req.method === 'HEAD') response.end();
    else await sendStream(await answer.body.open(), response);
  } else if ('signedOut' in answer) {
    cookies.clearSession(response);
    sendShownPage(response, frame, answer, undefined);
  } else sendShownPage(response, frame, answer, response.locals.viewer as Viewer);
}
