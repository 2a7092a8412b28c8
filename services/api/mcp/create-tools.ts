import type { ReadingDeps } from '../reading/reading-deps.ts';
import type { Route } from '../http/route.ts';
import { backfillTools } from './backfill-tools.ts';
import { explainTools } from './explain-tools.ts';
import { previewTools } from './preview-tools.ts';
import { trendTools } from './trend-tools.ts';
import { monitorTools } from './monitor-tools.ts';
import { readingTools } from './reading-tools.ts';
import type { Tool } from './tool.ts';

/** All tools, each built on the API route that it maps to. @throws Error when a route is missing */
export function createTools(reading: ReadingDeps, routes: readonly Route[]): Tool[] {
  const routeAt = (method: Route['method'], path: string) => {
    const route = routes.find((candidate) => candidate.method === method && candidate.path === path);
    if (route === undefined) throw new Error(`a tool needs the route ${method} ${path}`);
    return route;
  };
  return [
    ...readingTools(reading, (path) => routeAt('get', path)),
    ...monitorTools(routeAt),
    ...backfillTools(routeAt),
    ...explainTools(routeAt),
    ...previewTools(routeAt),
    ...trendTools(routeAt),
  ];
}
