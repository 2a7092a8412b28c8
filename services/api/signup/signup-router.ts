import { Router } from 'express';
import type { RequestHandler } from 'express';
import { ApiError } from '../http/api-error.ts';
import { refuseParameters } from '../http/invalid-request.ts';
import { jsonBody, methodNotAllowed } from '../http/route.ts';
import { createOAuthLimits } from '../oauth/oauth-limits.ts';
import { createLinkRouter } from './link-router.ts';
import { RECOVER_KEY, SIGN_UP } from './code-mail.ts';
import { codeSent, recoverySent } from './code-sent.ts';
import { createRecoverKey } from './recover-key.ts';
import { recoveryLink, recoveryLinkPage } from './recovery-link.ts';
import { createRequestCode } from './request-code.ts';
import { signupLink, signupLinkPage } from './signup-link.ts';
import type { SignupDeps } from './signup-deps.ts';
import { createVerifyCode } from './verify-code.ts';

const SIGNUP = '/api/agent/signup';
const VERIFY = '/api/agent/verify';
const RECOVER = '/api/agent/recover';
const RECOVER_VERIFY = '/api/agent/recover/verify';
/** An address and a token need far less. */
const BODY_LIMIT = 4 * 1024;

/**
 * Sign-up for agents without a key, and new keys to existing accounts. Checks come in this order: method, whether
 * sign-up is on, body, then those of the route. A client that disconnects meanwhile does not stop the work. Existing
 * accounts get keys when sign-up is off too.
 */
export function createSignupRouter(deps: SignupDeps): Router {
  const { appUrl } = deps;
  const requestCode = createRequestCode(deps, SIGN_UP, signupLinkPage(appUrl));
  const verifyCode = createVerifyCode(deps);
  const requestRecovery = createRequestCode(deps, RECOVER_KEY, recoveryLinkPage(appUrl));
  const recoverKey = createRecoverKey(deps);
  const body = [refuseParameters, ...jsonBody(BODY_LIMIT)];
  const router = Router();
  router.use('/api/agent', noStore);
  router.post(SIGNUP, refuseIfDisabled(deps), ...body, async (request, response) => {
    response.json(codeSent(await requestCode(request.body, request.ip), appUrl));
  });
  router.post(VERIFY, refuseIfDisabled(deps), ...body, async (request, response) => {
    const created = await verifyCode(request.body);
    response.status(201).json(created);
  });
  router.post(RECOVER, ...body, async (request, response) => {
    response.json(recoverySent(await requestRecovery(request.body, request.ip), appUrl));
  });
  router.post(RECOVER_VERIFY, ...body, async (request, response) => {
    const recovered = await recoverKey(request.body);
    response.status(201).json(recovered);
  });
  const linkLimit = createOAuthLimits(deps.pool)('link');
  router.use(createLinkRouter(signupLink(deps), linkLimit), createLinkRouter(recoveryLink(deps), linkLimit));
  router.all([SIGNUP, VERIFY, RECOVER, RECOVER_VERIFY], methodNotAllowed(['POST']));
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
