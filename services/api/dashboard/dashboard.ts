import { promisify } from 'node:util';
import { Router, urlencoded } from 'express';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Stripe } from 'stripe';
import type { ServiceStatus } from '../../../schemas/api/status.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import type { PaymentSettings } from '../../../shared/billing/stripe.ts';
import { isForThisServer } from '../../../shared/http/limited-server.ts';
import { html } from '../../../shared/http/html.ts';
import { MARK, SHARED_STYLE } from '../../../shared/http/page.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { ApiError, ClientDisconnected, toApiError } from '../http/api-error.ts';
import { dashboardFiles, FONT_STYLE, fontFiles, serveAssets } from '../http/assets.ts';
import { noteAccount } from '../http/request-log.ts';
import { EVENT_STREAM, sendStream, StreamedBody } from '../http/response-stream.ts';
import { abortedOnDisconnect, disconnectCheck, methodNotAllowed, typesOf } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import type { LiveTails } from '../matches/live-tails.ts';
import type { SignupDeps } from '../signup/signup-routes.ts';
import { accountPages } from './account-pages.ts';
import { billingPages, checkoutOrigin } from './billing-pages.ts';
import { keysPages } from './keys-pages.ts';
import { sendShownPage } from './layout.ts';
import type { Frame, Viewer } from './layout.ts';
import { deliveriesPages } from './monitors/deliveries-page.ts';
import { editPages } from './monitors/edit-pages.ts';
import { exportPages } from './monitors/export-page.ts';
import { explanationPages } from './monitors/matches.ts';
import { monitorPages } from './monitors/monitor-page.ts';
import { insightsPages } from './monitors/trends-page.ts';
import { tryPages } from './monitors/try-page.ts';
import { webhookPages } from './monitors/webhook-page.ts';
import { overviewPages } from './overview-page.ts';
import { FormFields, get } from './page.ts';
import type { ApiRequest, PageResponse, PageRequest, PageRoute } from './page.ts';
import { admitRequest, callerOf, createDashboardCookies, csrfFieldOf, requireCsrfToken } from './sessions.ts';
import type { DashboardCookies, SignedIn } from './sessions.ts';
import { createSignInRouter } from './sign-in-router.ts';
import { sqlPages } from './sql-page.ts';
import { createUnsubscribeRouter } from './unsubscribe-router.ts';
import { usagePages } from './usage-page.ts';

export interface DashboardDeps extends SignupDeps {
  host: string;
  secretBox: SecretBox;
  clock: Clock;
  /** Default: packs cannot be bought. */
  payments?: { stripe: Stripe; settings: PaymentSettings } | undefined;
  routes: readonly Route[];
  liveTails: LiveTails;
  status: () => Promise<ServiceStatus>;
}

export interface PagesDeps {
  deps: DashboardDeps;
  address: DashboardAddress;
  cookies: DashboardCookies;
  frame: Frame;
}

export function allPages(deps: DashboardDeps): PageRoute[] {
  return [
    ...overviewPages(deps),
    // Before `/monitors/:id`.
    ...editPages,
    ...tryPages(),
    ...monitorPages(deps),
    ...explanationPages,
    ...webhookPages,
    ...deliveriesPages,
    ...insightsPages(deps.pool),
    ...exportPages(deps.pool),
    ...keysPages(deps),
    ...sqlPages,
    ...usagePages(deps),
    ...billingPages(deps),
    ...accountPages(deps),
    // Asks people without a session to sign in, so that it does not reveal which pages exist.
    get('/*rest', () => {
      throw new ApiError('not_found', 'The address may be wrong, or the page no longer exists.');
    }),
  ];
}

export function createDashboard(deps: DashboardDeps): Router {
  const address = dashboardAddress(deps.dashboardUrl);
  const { mount, folder, isHttps } = address;
  const router = Router();
  router.get('/', (_request, response) => {
    response.redirect(302, folder);
  });
  router.all('/', methodNotAllowed(['GET', 'HEAD']));
  router.use(mount, refuseOtherHosts(deps));
  const style = [FONT_STYLE, SHARED_STYLE, dashboardFiles(...STYLES)].join('\n');
  const scripts = SCRIPTS.map((name) => [name, dashboardFiles(name)] as const);
  const prefix = folder.slice(0, -mount.length);
  const assets =
    prefix +
    serveAssets(router, `${mount}/assets`, [['style.css', style], ['mark.svg', MARK], ...scripts, ...fontFiles()]);
  const frame: Frame = {
    style: `${assets}/style.css`,
    icon: `${assets}/mark.svg`,
    scripts: SCRIPTS.map((name) => `${assets}/${name}`),
    font: `${assets}/files/inter-latin-wght-normal.woff2`,
    path: (below) => folder + below,
    docs: `${deps.baseUrl}/docs`,
    formTargets: deps.payments === undefined ? [] : [checkoutOrigin(deps.payments.settings)],
  };
  const pages = { deps, address, cookies: createDashboardCookies(folder, isHttps), frame };
  router.use(createSignInRouter(pages), createUnsubscribeRouter(pages));
  addPages(router, pages, allPages(deps));
  router.use(showFailure(pages));
  return router;
}

const FOLDER = '/dashboard';
/** After the shared style. */
const STYLES = ['charts.css', 'try-it.css', 'billing.css', 'matches.css'];
const SCRIPTS = ['dashboard.js', 'charts.js', 'try-it.js', 'matches.js'];

export type DashboardAddress = ReturnType<typeof dashboardAddress>;

/** @param dashboardUrl the public address without /dashboard and without a trailing slash */
export function dashboardAddress(dashboardUrl: string) {
  const { pathname, protocol, host } = new URL(dashboardUrl);
  return {
    mount: FOLDER,
    /** The path that browsers see, with the prefix of a proxy: `/app/dashboard`. */
    folder: pathname.replace(/\/$/, '') + FOLDER,
    isHttps: protocol === 'https:',
    url: dashboardUrl + FOLDER,
    publicHost: host,
  };
}

/**
 * Refuses requests for hosts of strangers that resolve to this server (DNS rebinding). Behind a proxy, the proxy checks
 * the host, and it may replace the header.
 */
function refuseOtherHosts({ host, baseUrl, appUrl, dashboardUrl }: DashboardDeps): RequestHandler {
  const names = [baseUrl, appUrl, dashboardUrl].map((url) => new URL(url).hostname);
  return (request, _response, next) => {
    if (!request.app.enabled('trust proxy') && !isForThisServer(request, { listensOn: host, names })) {
      throw new ApiError('invalid_request', `Host: the dashboard is at ${dashboardUrl}, as DASHBOARD_URL says.`);
    }
    next();
  };
}

/** The longest rule, typed into a form. */
const FORM_LIMIT = 256 * 1024;
const MAX_FIELDS = 500;

/**
 * The pages for signed-in people. Checks come in this order: method, session (else the sign-in page), the session's
 * limit, the form's size, its CSRF token, then the page's own.
 */
function addPages(router: Router, pages: PagesDeps, routes: readonly PageRoute[]): void {
  for (const [path, onPath] of Map.groupBy(routes, (route) => route.path)) {
    // Express matches /dashboard/ too.
    const full = path === '/' ? FOLDER : FOLDER + path;
    for (const route of onPath) {
      router[route.method](full, (request, response) => handlePage(pages, route, request, response));
    }
    const methods = onPath.map(({ method }) => method.toUpperCase());
    router.all(full, methodNotAllowed(methods.includes('GET') ? [...methods, 'HEAD'] : methods));
  }
}

async function handlePage(pages: PagesDeps, route: PageRoute, request: Request, response: Response): Promise<void> {
  const { deps, address, cookies } = pages;
  response.set('Cache-Control', 'no-store');
  const signedIn = await admitRequest(deps.pool, cookies, request, route.ownLimit);
  if (signedIn === undefined) {
    askToSignIn(pages, request, response);
    return;
  }
  const { account, token } = signedIn;
  noteAccount(response, account.id);
  const current = request.path.slice(FOLDER.length) || '/';
  response.locals.viewer = { account, csrfField: csrfFieldOf(token), current } satisfies Viewer;
  if (route.method === 'post') {
    await readForm(request, response);
    requireCsrfToken(request, { cookie: token, publicHost: address.publicHost });
  }
  const page = await route.handle(pageRequestOf(pages, signedIn, request, response));
  // The form may have cost credits, which the header shows. It did its work, so a failure here does not matter.
  if (route.method === 'post' && 'content' in page && !page.signedOut) {
    const viewer = response.locals.viewer as Viewer;
    viewer.account = (await findAccount(deps.pool, account.id).catch(() => undefined)) ?? account;
  }
  await sendResponse(pages, response, page);
}

/** Only for signed-in people: strangers could make the process hold as many large forms as it has connections. */
const readForm = promisify<Request, Response>(
  urlencoded({ extended: false, limit: FORM_LIMIT, parameterLimit: MAX_FIELDS }),
);

/** Event streams get a status, since a redirect to a document means nothing to them. */
function askToSignIn({ cookies, address }: PagesDeps, request: Request, response: Response): void {
  cookies.clearSession(response);
  if (wantsEvents(request)) throw new ApiError('unauthorized', 'Sign in again.');
  const below = request.path.slice(FOLDER.length);
  const next = request.method === 'GET' && below.length > 1 ? `?next=${encodeURIComponent(below)}` : '';
  response.redirect(303, `${address.folder}/sign-in${next}`);
}

const wantsEvents = (request: Request): boolean => request.get('Accept')?.includes(EVENT_STREAM) === true;

function pageRequestOf(
  { deps, frame }: PagesDeps,
  signedIn: SignedIn,
  request: Request,
  response: Response,
): PageRequest {
  const { account, session, token } = signedIn;
  const params = request.params as Record<string, string>;
  const caller = callerOf(signedIn);
  const lastEventId = request.get('Last-Event-ID');
  const signal = abortedOnDisconnect(response);
  const call: PageRequest['call'] = (method, path, given: ApiRequest = {}) => {
    const route = deps.routes.find((one) => one.method === method && one.path === path);
    if (route === undefined) throw new Error(`the API has no route ${method} ${path}`);
    return route.handle({
      caller,
      requestId: String(response.getHeader('X-Request-Id')),
      id: given.id ?? params.id ?? '',
      partId: given.partId ?? '',
      query: given.query ?? {},
      body: given.body,
      idempotencyKey: given.idempotencyKey,
      lastEventId,
      type: given.type ?? typesOf(route)[0]!,
      throwIfDisconnected: disconnectCheck(request),
      signal,
    });
  };
  return {
    account,
    session,
    caller,
    clientAddress: request.ip,
    host: request.host,
    now: deps.clock(),
    params,
    id: params.id ?? '',
    query: new FormFields(request.query),
    form: new FormFields(request.body),
    csrfField: csrfFieldOf(token),
    path: frame.path,
    lastEventId,
    call,
    read: async (path, given) => (await call('get', path, given)).body,
  };
}

async function sendResponse({ cookies, frame }: PagesDeps, response: Response, page: PageResponse): Promise<void> {
  if ('redirect' in page) {
    response.redirect(303, page.redirect.startsWith('/') ? frame.path(page.redirect) : page.redirect);
  } else if ('body' in page) {
    response.set(page.headers);
    if (!(page.body instanceof StreamedBody)) response.send(Buffer.from(page.body));
    else if (response.req.method === 'HEAD') response.end();
    else await sendStream(await page.body.open(), response);
  } else {
    if (page.signedOut) cookies.clearSession(response);
    sendShownPage(response, frame, page, page.signedOut ? undefined : (response.locals.viewer as Viewer));
  }
}

const FAILURES: Readonly<Record<number, string>> = {
  400: 'Something went wrong',
  402: 'Not enough credits',
  403: 'Not allowed',
  404: 'Page not found',
  429: 'Too many requests',
};

/** Shows what a page threw as a page. For an unexpected error it names only the request. */
function showFailure({ frame, deps: { logger } }: PagesDeps): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (request.path !== FOLDER && !request.path.startsWith(`${FOLDER}/`)) {
      next(error);
      return;
    }
    if (error instanceof ClientDisconnected) return;
    // An event stream expects the API's error response, and a response under way can only be broken off.
    if (response.headersSent || wantsEvents(request)) {
      next(error);
      return;
    }
    const known = toApiError(error);
    const requestId = String(response.getHeader('X-Request-Id'));
    if (known === undefined) logger.error({ err: error, requestId }, 'a page failed');
    const refusal = known ?? new ApiError('internal_error', `Something went wrong on our side (request ${requestId}).`);
    response.set(refusal.headers);
    if (refusal.retryAfter !== undefined) response.set('Retry-After', String(refusal.retryAfter));
    const title = FAILURES[refusal.status] ?? 'Temporarily unavailable';
    const content = html`<p role="alert">${refusal.message}</p>
      <p><a href="${frame.path('')}">Go to the overview</a></p>`;
    const viewer = response.locals.viewer as Viewer | undefined;
    sendShownPage(response, frame, { title, content, status: refusal.status }, viewer);
  };
}
