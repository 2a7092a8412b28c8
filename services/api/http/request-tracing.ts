import type { Request, RequestHandler } from 'express';
import type { ServerResponse } from 'node:http';
import type { TraceSpan, Tracing } from '../../../shared/runtime/tracing.ts';

/** Readiness probes and scrapes of the status would be most of the traces. */
const UNTRACED = new Set(['/healthz', '/readyz', '/status']);
const spans = new WeakMap<ServerResponse, TraceSpan>();

/**
 * Begins a trace for each request that the sampling chooses. A caller's own `traceparent` is linked and not continued:
 * callers must not decide how much is sampled.
 */
export function createRequestTracing(tracing: Tracing): RequestHandler {
  return (request, response, next) => {
    const given = request.get('traceparent');
    const span = UNTRACED.has(request.path)
      ? undefined
      : tracing.begin(`HTTP ${request.method}`, {
          kind: 'server',
          attributes: { 'http.request.method': request.method },
          links: given === undefined ? [] : [given],
        });
    if (span) {
      spans.set(response, span);
      response.once('close', () => {
        const { statusCode } = response;
        const attributes = { 'http.route': routePattern(request), 'http.response.status_code': statusCode };
        span.end({ attributes, ...(statusCode >= 500 ? { error: String(statusCode) } : {}) });
      });
    }
    next();
  };
}

/** The id of the trace of a request; undefined when it is not sampled. */
export function traceIdOf(response: ServerResponse): string | undefined {
  return spans.get(response)?.traceId;
}

/**
 * The pattern of a request's route, never its path: labels of metrics must have few values. Requests refused before
 * routing have none.
 */
export function routePattern(request: Request): string {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : 'none';
}
