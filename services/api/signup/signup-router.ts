import { Router } from 'express';
import type { RequestHandler } from 'express';
import type { CodeSent, RecoverySent } from '../../../schemas/api/signup.ts';
import { CODE_SECONDS } from '../../../shared/accounts/rules/credentials.ts';
import type { MailDomainCheck } from '../../../shared/mail/mail-domain.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ApiError, refuseParameters } from '../http/api-error.ts';
import { jsonBody, methodNotAllowed } from '../http/route.ts';
import { createOAuthLimits } from '../oauth/oauth-limits.ts';
import { RECOVER_KEY, SIGN_UP } from './code-mail.ts';
import { createLinkRouter } from './link-router.ts';
import { createRequestCode } from './request-code.ts';
import type { CodeBudgets } from './signup-limits.ts';
import { createRecoverKey, createVerifyCode, recoveryLink, signupLink } from './verify-code.ts';

export interface SignupDeps {
  pool: Pool;
  logger: Logger;
  mailer: Mailer;
  /** The installation's secret key. The keys for hashes of codes and mailboxes are derived from it. */
  secretKey: string;
  /** Secret keys before it. Default: none. */
  previousKeys?: readonly string[];
  signup: CodeBudgets & { enabled: boolean };
  /** undefined: domains are not looked up. */
  acceptsMail: MailDomainCheck | undefined;
  /** The addresses of the API and of sign-up, without a trailing slash. */
  baseUrl: string;
  appUrl: string;
  dashboardUrl: string;
}

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
  const [signup, recovery] = [signupLink(deps), recoveryLink(deps)];
  const requestCode = createRequestCode(deps, SIGN_UP, signup.url);
  const verifyCode = createVerifyCode(deps);
  const requestRecovery = createRequestCode(deps, RECOVER_KEY, recovery.url);
  const recoverKey = createRecoverKey(deps);
  const body = [refuseParameters, ...jsonBody(BODY_LIMIT)];
  const router = Router();
  router.use('/api/agent', noStore);
  router.post(SIGNUP, refuseIfDisabled(deps), ...body, async (request, response) => {
    const token = await requestCode(request.body, request.ip);
    const answer: CodeSent = { ...codeSent('signup_token', `${appUrl}${VERIFY}`), signup_token: token };
    response.json(answer);
  });
  router.post(VERIFY, refuseIfDisabled(deps), ...body, async (request, response) => {
    const created = await verifyCode(request.body);
    response.status(201).json(created);
  });
  router.post(RECOVER, ...body, async (request, response) => {
    const token = await requestRecovery(request.body, request.ip);
    const answer: RecoverySent = { ...codeSent('recovery_token', `${appUrl}${RECOVER_VERIFY}`), recovery_token: token };
    response.json(answer);
  });
  router.post(RECOVER_VERIFY, ...body, async (request, response) => {
    const recovered = await recoverKey(request.body);
    response.status(201).json(recovered);
  });
  const linkLimit = createOAuthLimits(deps.pool)('link');
  router.use(createLinkRouter(signup, linkLimit), createLinkRouter(recovery, linkLimit));
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

function codeSent(tokenField: string, url: string): Omit<CodeSent, 'signup_token'> {
  return {
    status: 'code_sent',
    expires_in: CODE_SECONDS,
    next: `Ask for the 6-digit code that was mailed to the address, and send it with ${tokenField} to POST ${url} within ${CODE_SECONDS / 60} minutes. A mail that holds a link instead is for the person alone: its page shows them the key.`,
  };
}
