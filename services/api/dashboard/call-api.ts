import { ApiError } from '../http/api-error.ts';
import type { Answer, Route } from '../http/route.ts';
import type { Visit } from './page-route.ts';

/** What a page sends to a route of the API. */
export interface ApiRequest {
  id?: string;
  partId?: string;
  query?: Record<string, string>;
  body?: object;
  idempotencyKey?: string;
}

/**
 * Calls a route of the API for the person at a page, so that validation, charges and errors are the API's own.
 *
 * @throws ApiError as the route does; that of a faulty request has `faults`
 */
export type CallApi = (visit: Visit, method: Route['method'], path: string, request?: ApiRequest) => Promise<Answer>;

export function createCallApi(routes: readonly Route[]): CallApi {
  return (visit, method, path, request = {}) => {
    const route = routes.find((one) => one.method === method && one.path === path);
    if (route === undefined) throw new Error(`the API has no route ${method} ${path}`);
    return route.handle({
      caller: visit.caller,
      requestId: visit.requestId,
      id: request.id ?? '',
      partId: request.partId ?? '',
      query: request.query ?? {},
      body: request.body,
      idempotencyKey: request.idempotencyKey,
      lastEventId: visit.lastEventId,
      type: route.produces?.[0] ?? 'application/json',
      refuseAbandoned: visit.refuseAbandoned,
      signal: visit.signal,
    });
  };
}

/** What is wrong with each field of a form, by the field's name in the API; `''`: with the request as a whole. */
export type FieldProblems = ReadonlyMap<string, string>;

/**
 * What a form shows when the API refused it. `keywords[2]` counts for the field `keywords`.
 *
 * @throws the error when it is not a refusal that the person can mend in the form
 */
export function problemsOf(error: unknown): FieldProblems {
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 404) throw error;
  if (error.faults.length === 0) return new Map([['', error.message]]);
  const problems = new Map<string, string>();
  for (const { field, message } of error.faults) {
    const name = /^[a-z_]+/.exec(field)?.[0] ?? '';
    const said = name === field ? message : `${field} ${message}`;
    problems.set(name, problems.has(name) ? `${problems.get(name)!}; ${said}` : said);
  }
  return problems;
}
