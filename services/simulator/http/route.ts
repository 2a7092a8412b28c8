import type { World } from '../world.ts';

/** The response of a route. An object is sent as JSON, a string unchanged. */
export interface RouteResponse {
  status: number;
  body: object | string;
  headers?: Record<string, string>;
}

export function ok(body: object): RouteResponse {
  return { status: 200, body };
}

const MESSAGES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  414: 'URI Too Long',
  429: 'Too Many Requests',
};

export function failure(status: number, reason?: string): RouteResponse {
  const body = { message: MESSAGES[status] ?? 'Error', error: status };
  return { status, body: reason === undefined ? body : { reason, ...body } };
}

export function redirect(status: number, location: string): RouteResponse {
  return { status, body: '', headers: { location } };
}

/** An HTML page, as the upstream sends when it blocks a client or is overloaded. */
export function page(status: number, title: string, headers: Record<string, string> = {}): RouteResponse {
  const body = `<!doctype html>\n<html>\n  <head><title>${title}</title></head>\n  <body><h1>${title}</h1></body>\n</html>\n`;
  return { status, body, headers: { 'content-type': 'text/html; charset=UTF-8', ...headers } };
}

export interface RouteRequest {
  world: World;
  method: string;
  path: string;
  query: URLSearchParams;
  urlLength: number;
  now: number;
  /** Listings are this much older than `now`. */
  staleMs: number;
}
