import { Router } from 'express';
import type { RequestHandler } from 'express';
import { isForThisServer } from '../../../shared/http/host-header.ts';
import { accountPages } from './account/account-pages.ts';
import { methodNotAllowed } from '../http/route.ts';
import { ApiError } from '../http/api-error.ts';
import { billingPages } from './billing/billing-page.ts';
import { checkoutOrigin } from './billing/checkout-origin.ts';
import { createAssets } from './dashboard-assets.ts';
import { dashboardAddress } from './dashboard-address.ts';
import { createDashboardCookies } from './dashboard-cookies.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import { createPagesRouter } from './dashboard-router.ts';
import { showFailure } from './failure-page.ts';
import { keysPages } from './keys/keys-pages.ts';
import type { Frame } from './layout.ts';
import { allMonitorPages } from './monitors/all-monitor-pages.ts';
import { overviewPages } from './overview/overview-page.ts';
import type { PageRoute } from './page-route.ts';
import { programsPages } from './programs/programs-pages.ts';
import { sqlPages } from './sql/sql-page.ts';
import { createSignInRouter } from './sign-in/sign-in-router.ts';

/** All pages for signed-in people. */
export function allPages(deps: DashboardDeps): PageRoute[] {
  return [
    ...overviewPages(deps),
    ...allMonitorPages(deps),
    ...keysPages(deps),
    ...programsPages(deps),
    ...sqlPages(deps),
    ...billingPages(deps),
    ...accountPages(deps),
    UNKNOWN_PAGE,
  ];
}

/** Asks people without a session to sign in, so that it does not tell which pages there are. */
const UNKNOWN_PAGE: PageRoute = {
  method: 'get',
  path: '/*rest',
  handle: () => Promise.reject(new ApiError('not_found', 'The address may be wrong, or what it showed is gone.')),
};

/** The dashboard: everything that a person does with an account, in a browser. `/` leads there. */
export function createDashboard(deps: DashboardDeps): Router {
  const address = dashboardAddress(deps.dashboardUrl);
  const assets = createAssets(address);
  const formTargets = deps.payments === undefined ? [] : [checkoutOrigin(deps.payments.settings)];
  const frame: Frame = { assets: assets.paths, path: (below) => address.folder + below, formTargets };
  const cookies = createDashboardCookies(address.folder, address.isHttps);
  const pages = { deps, address, cookies, frame };
  const router = Router();
  router.get('/', (_request, response) => {
    response.redirect(302, address.folder);
  });
  router.all('/', methodNotAllowed(['GET', 'HEAD']));
  router.use(address.mount, refuseOtherHosts(deps));
  router.use(assets.router);
  router.use(createSignInRouter(pages));
  router.use(createPagesRouter(pages, allPages(deps)));
  router.use(showFailureOf(address.mount, frame, deps));
  return router;
}

/**
 * Refuses pages of strangers whose name leads here (DNS rebinding). Behind a proxy, the proxy decides which names do,
 * and it may replace the header.
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

/** Failures of other routes of the API are not shown as pages. */
function showFailureOf(mount: string, frame: Frame, deps: DashboardDeps): ReturnType<typeof showFailure> {
  const show = showFailure(frame, deps.logger);
  return (error, request, response, next) => {
    const isPage = request.path === mount || request.path.startsWith(`${mount}/`);
    if (isPage) void show(error, request, response, next);
    else next(error);
  };
}
