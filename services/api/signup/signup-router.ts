import { Router } from 'express';
import type { RequestHandler } from 'express';
import { ApiError } from '../http/api-error.ts';
import { jsonBody } from '../http/json-body.ts';
import { methodNotAllowed } from '../http/route.ts';
import { createOAuthLimits } from '../oauth/oauth-limits.ts';
import { createLinkRouter } from './link-router.ts';
import { createRequestCode } from './request-code.ts';
import { signupLink } from './signup-link.ts';
import type { SignupDeps } from './signup-deps.ts';
import { createVerifyCode } from './verify-code.ts';

const SIGNUP = '/api/agent/signup';
const VERIFY = '/api/agent/verify';
/** An address and a token need far less. */
const BODY_LIMIT = 4 * 1024;

/**
 * Sign-up for agents without a key. Checks come in this order: method, whether sign-up is on, body, then those of the
 * route. A client that disconnects meanwhile does not stop the work.
 */
export function createSignupRouter(deps: SignupDeps): Router {
  const requestCode = createRequestCode(deps);
  const verifyCode = createVerifyCode(deps);
  const router = Router();
  router.use('/api/agent', noStore);
  router.post(SIGNUP, refuseIfDisabled(deps), ...jsonBody(BODY_LIMIT), async (request, response) => {
    response.json(await requestCode(request.body, request.ip));
  });
  router.post(VERIFY, refuseIfDisabled(deps), ...jsonBody(BODY_LIMIT), async (request, response) => {
    const created = await verifyCode(request.body);
    response.status(201).json(created);
  });
  router.use(createLinkRouter(signupLink(deps), createOAuthLimits(deps.pool)('link')));
  router.all([SIGNUP, VERIFY], methodNotAllowed(['POST']));
  return router;
}

/** Answers contain tokens and keys. */
const noStore: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store');
  next();
};

function refuseIfDisabled({ signup }: SignupDeps): RequestHandler {
  return (_request, _response, next) => {
    if (!signup.enabled) throw new ApiError('agent_signup_disabled', 'Sign-up is off here.');
    next();
  };
}
