import type { IRoute, RequestHandler } from 'express';
import type { AdmissionMiddleware } from '../admission/admission-middleware.ts';
import { wholeRoute } from './route.ts';
import type { Route } from './route.ts';

/**
 * Leads a GET request whose path is exactly that of a route without parameters to it by one look-up. The routers do the
 * same for all other spellings of a path and for all other routes, but compare the path with each of their own. The
 * permission that a route declares is the one that its path requires (`checkDeclaredScopes`).
 */
export function createDirectRoutes(
  routes: readonly Route[],
  { admitTo, callerOf }: Pick<AdmissionMiddleware, 'admitTo' | 'callerOf'>,
): RequestHandler {
  const direct = new Map(
    routes
      .filter(({ method, path, readsBody }) => method === 'get' && readsBody !== true && !path.includes(':'))
      .map((route) => [route.path, { ...route, answer: wholeRoute(route, callerOf) }]),
  );
  return async (request, response, next) => {
    const route = request.method === 'GET' ? direct.get(request.path) : undefined;
    if (route === undefined) {
      next();
      return;
    }
    await admitTo(route.scope, request, response);
    // As the router does; the path is the label of metrics and traces. Requests that are not admitted have none.
    request.route = { path: route.path } as IRoute;
    await route.answer(request, response, next);
  };
}
