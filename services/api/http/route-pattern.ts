import type { Request } from 'express';

/**
 * The pattern of a request's route, never its path: labels of metrics must have few values. Requests refused before
 * routing have none.
 */
export function routePattern(request: Request): string {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : 'none';
}
