import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ClientGone } from '../http/api-error.ts';
import { mayRead } from './authentication.ts';
import type { Caller } from './authentication.ts';
import { toApiError } from '../http/error-handler.ts';
import type { Admission, Quota, AdmissionControl } from './admission-control.ts';
import { setCreditsRemaining } from '../http/route.ts';

/** Middleware of everything below /v1. */
export interface AdmissionMiddleware {
  /** Before the routes: the key, the permission, the limits, in this order. */
  admit: RequestHandler;
  /** After the routes: gives the day's slot back when it was not the client's fault. */
  giveBack: ErrorRequestHandler;
  /** Who asks. @throws Error when `admit` did not see the request */
  callerOf: (request: Request) => Caller;
}

/** A request that failed because Postgres is away must not wait for it once more. */
const GIVE_BACK_MS = 1_500;

/**
 * Everything below this path, seen from /v1, needs the permission to read. The router does not look at case, so neither
 * does this.
 */
const READING = /^\/forum(\/|$)/i;

export function createAdmissionMiddleware(admissionControl: AdmissionControl): AdmissionMiddleware {
  const admissions = new WeakMap<Request, Admission>();
  return {
    async admit(request, response, next) {
      const admission = await admissionControl.admit(request.headers);
      admissions.set(request, admission);
      showAdmission(response, admission);
      if (READING.test(request.path)) mayRead(admission.caller);
      if (admission.refusal) throw admission.refusal;
      next();
    },
    async giveBack(error: unknown, request, response, next) {
      const admission = admissions.get(request);
      // A client that went away is not answered at all; what was done for it counts.
      const isOurFault = !(error instanceof ClientGone) && (toApiError(error)?.status ?? 500) >= 500;
      if (admission && isOurFault && !response.headersSent) {
        await returnDailySlot(admissionControl, admission, response, request.log);
      }
      next(error);
    },
    callerOf(request) {
      const admission = admissions.get(request);
      if (!admission) throw new Error('a route of /v1 was reached without authentication');
      return admission.caller;
    },
  };
}

/** What an answer says of its account: balance and limits. */
export function showAdmission(response: Response, { caller, quotas }: Admission): void {
  setCreditsRemaining(response, caller.balance);
  setQuotas(response, quotas);
  response.set('Cache-Control', 'no-store');
}

/**
 * Gives a request's slot of the day back, because it failed on our side, and says so in its answer. Never throws: the
 * failure is answered.
 */
export async function returnDailySlot(
  admissionControl: AdmissionControl,
  admission: Admission,
  response: Response,
  log: Pick<Logger, 'debug'>,
): Promise<void> {
  if (admission.day === undefined) return;
  try {
    await withDeadline(admissionControl.giveBack(admission), GIVE_BACK_MS, 'Postgres did not answer in time');
    setQuotas(response, admission.quotas.map(withDaySlot));
  } catch (problem) {
    log.debug({ err: problem }, 'the slot of a failed request was not given back');
  }
}

function withDaySlot(quota: Quota): Quota {
  return quota.name === 'day' ? { ...quota, left: quota.left + 1 } : quota;
}

/** RateLimit-Policy and RateLimit, by draft-ietf-httpapi-ratelimit-headers-10. */
function setQuotas(response: Response, quotas: readonly Quota[]): void {
  const policy = ({ name, limit, windowSeconds }: Quota) => `"${name}";q=${limit};w=${windowSeconds}`;
  const state = ({ name, left, wholeInSeconds }: Quota) => `"${name}";r=${left};t=${wholeInSeconds}`;
  response.set('RateLimit-Policy', quotas.map(policy).join(', '));
  response.set('RateLimit', quotas.map(state).join(', '));
}
