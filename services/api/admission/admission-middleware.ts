import { Router } from 'express';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ClientDisconnected, toApiError } from '../http/api-error.ts';
import type { ApiError } from '../http/api-error.ts';
import { noteAccount, requestLogger } from '../http/request-log.ts';
import { setCreditsRemaining } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import type { Admission, AdmissionControl, Quota } from './admission-control.ts';
import type { Caller } from './caller.ts';
import { requireScope, scopedPaths, scopeOf } from './caller.ts';

export interface AdmissionMiddleware {
  /** Before the routes: checks the key, the permission and the limits, in this order. */
  admit: RequestHandler;
  /** After the routes: returns the daily slot of a request that failed on our side, or that a further limit refused. */
  returnDailySlot: ErrorRequestHandler;
  /** The caller of an admitted request. @throws Error when `admit` did not see the request */
  callerOf: (request: Request) => Caller;
}

const API_ROOT = '/v1';
/** A request that failed because Postgres is unreachable must not wait much longer for it. */
const RETURN_TIMEOUT_MS = 1_500;

/** @throws Error when the routes below a path require different permissions */
export function createAdmissionMiddleware(
  admissionControl: AdmissionControl,
  routes: readonly Pick<Route, 'method' | 'path' | 'scope'>[],
  logger: Logger,
): AdmissionMiddleware {
  const admissions = new WeakMap<Request, Admission>();
  const admissionOf = (request: Request) => {
    const admission = admissions.get(request);
    if (!admission) throw new Error('a route of /v1 was reached without authentication');
    return admission;
  };

  const admit = Router();
  admit.use(API_ROOT, async (request, response, next) => {
    const admission = await admissionControl.admit(request.headers);
    admissions.set(request, admission);
    setAdmissionHeaders(response, admission);
    next();
  });
  // The same router matches routes and scopes, so no spelling of a path can reach a route and avoid its scope.
  for (const scoped of scopedPaths(routes)) {
    admit.use(scoped.path, (request, _response, next) => {
      requireScope(admissionOf(request).caller, scopeOf(scoped, request.method));
      next();
    });
  }
  admit.use(API_ROOT, (request, _response, next) => {
    const { refusal } = admissionOf(request);
    if (refusal) throw refusal;
    next();
  });

  return {
    admit,
    async returnDailySlot(error: unknown, request, response, next) {
      const admission = admissions.get(request);
      // A client that disconnected gets no response, and the work done for it counts.
      const isFree = !(error instanceof ClientDisconnected) && costsNoSlot(toApiError(error));
      if (admission && isFree && !response.headersSent) {
        await returnDailySlot(admissionControl, admission, response, requestLogger(logger, response));
      }
      next(error);
    },
    callerOf: (request) => admissionOf(request).caller,
  };
}

/**
 * Sets the headers that every response to an admitted caller has: balance, limits, and that it must not be cached.
 * Notes the account for the log.
 */
export function setAdmissionHeaders(response: Response, { caller, quotas }: Admission): void {
  noteAccount(response, caller.accountId);
  setCreditsRemaining(response, caller.balance);
  setQuotas(response, quotas);
  response.set('Cache-Control', 'no-store');
}

/** Whether a request that failed this way does not count for the day. @param refusal undefined: unexpected error */
export function costsNoSlot(refusal: ApiError | undefined): boolean {
  if (refusal === undefined) return true;
  return !refusal.takesDailySlot && (refusal.status >= 500 || refusal.status === 429);
}

/**
 * Returns the daily slot of a request that does not count, and updates the limits in its response. Never throws: the
 * client must get the response that explains the first failure.
 */
export async function returnDailySlot(
  admissionControl: AdmissionControl,
  admission: Admission,
  response: Response,
  log: Pick<Logger, 'debug'>,
): Promise<void> {
  if (admission.day === undefined) return;
  try {
    await withDeadline(
      admissionControl.returnDailySlot(admission),
      RETURN_TIMEOUT_MS,
      'Postgres did not answer in time',
    );
    setQuotas(response, admission.quotas.map(withDaySlot));
  } catch (problem) {
    log.debug({ err: problem }, 'the daily slot of a failed request was not returned');
  }
}

function withDaySlot(quota: Quota): Quota {
  return quota.name === 'day' ? { ...quota, remaining: quota.remaining + 1 } : quota;
}

/** Sets RateLimit-Policy and RateLimit by draft-ietf-httpapi-ratelimit-headers-10. */
function setQuotas(response: Response, quotas: readonly Quota[]): void {
  const policy = ({ name, limit, windowSeconds }: Quota) => `"${name}";q=${limit};w=${windowSeconds}`;
  const state = ({ name, remaining, fullInSeconds }: Quota) => `"${name}";r=${remaining};t=${fullInSeconds}`;
  response.set('RateLimit-Policy', quotas.map(policy).join(', '));
  response.set('RateLimit', quotas.map(state).join(', '));
}
