import { Router } from 'express';
import type { RequestHandler } from 'express';
import * as schemas from '../../../schemas/api/signup.ts';
import { CODE_SECONDS } from '../../../shared/accounts/rules/credentials.ts';
import type { MailDomainCheck } from '../../../shared/mail/mail-domain.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ApiError } from '../http/api-error.ts';
import { ok } from '../http/route.ts';
import type { PublicRoute } from '../http/route.ts';
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

/** An address and a token need far less. */
const BODY_LIMIT = 4 * 1024;

/** Errors of the routes that mail a code. */
const WHEN_MAILED = [
  'invalid_email',
  'disposable_email',
  'undeliverable_email',
  'rate_limited',
  'email_failed',
  'agent_signup_busy',
] as const;

/**
 * Sign-up for agents without a key, and new keys to existing accounts. A client that disconnects meanwhile does not
 * stop the work. Existing accounts get keys when sign-up is off too.
 */
export function signupRoutes(deps: SignupDeps): PublicRoute[] {
  const { appUrl } = deps;
  const requestCode = createRequestCode(deps, SIGN_UP, signupLink(deps).url);
  const verifyCode = createVerifyCode(deps);
  const requestRecovery = createRequestCode(deps, RECOVER_KEY, recoveryLink(deps).url);
  const recoverKey = createRecoverKey(deps);
  const always = { method: 'post', tag: 'Sign-up', bodyLimit: BODY_LIMIT, isOfApp: true } as const;
  return [
    {
      ...always,
      path: '/api/agent/signup',
      operationId: 'requestSignupCode',
      summary: 'Mail a code to an address',
      description:
        'Mails a 6-digit code that is valid for 10 minutes. The response is the same whether or not the mailbox has an account. After too many wrong codes for a mailbox (6 in 24 hours, 12 in 30 days), the mail contains a link instead: its page opens the account and shows the key only to the person who reads the mail. A body has at most 4 KiB. Limits per mailbox: 5 codes an hour and 10 a day from one network, and 10 an hour and 20 a day in total. Limits per client network: 20 codes an hour and 100 a day for an IPv4 /24 or an IPv6 /64, twice as many for a /56, and four times as many for a /48.',
      body: { schema: schemas.signupBody },
      responses: [ok('The code was mailed.', schemas.codeSent)],
      errors: ['internal_error', 'agent_signup_disabled', ...WHEN_MAILED],
      before: refuseIfDisabled(deps),
      async respond(request, response) {
        const token = await requestCode(request.body, request.ip);
        const answer: schemas.CodeSent = {
          ...codeSent('signup_token', `${appUrl}/api/agent/verify`),
          signup_token: token,
        };
        response.json(answer);
      },
    },
    {
      ...always,
      path: '/api/agent/verify',
      operationId: 'verifySignupCode',
      summary: 'Open an account with the mailed code',
      description:
        'Opens a free account and shows its key only once: keep it out of chat transcripts. A mailbox gets free credits once; plus tags and, at providers that ignore them, dots do not make another mailbox. Except at large mail providers, at most three new accounts per domain get free credits within 24 hours. After three wrong codes, start over. `too_many_attempts` is also the answer when a code is not checked because too many wrong codes were sent for the mailbox.',
      body: { schema: schemas.verifyBody },
      responses: [
        {
          status: 201,
          description: 'The account is open.',
          content: [{ schema: schemas.accountCreated }],
        },
      ],
      errors: [
        'internal_error',
        'agent_signup_disabled',
        'invalid_signup_token',
        'invalid_code',
        'code_expired',
        'too_many_attempts',
        'account_exists',
      ],
      before: refuseIfDisabled(deps),
      async respond(request, response) {
        const created = await verifyCode(request.body);
        response.status(201).json(created);
      },
    },
    {
      ...always,
      path: '/api/agent/recover',
      operationId: 'requestRecoveryCode',
      summary: 'Mail a code to recover an account',
      description:
        'For lost keys, and for accounts that were opened without a key by signing in to the tool server. Mails a 6-digit code that is valid for 10 minutes. The response and the mail are the same whether or not the mailbox has an account. Shares its limits with sign-up. Also works when sign-up is disabled.',
      body: { schema: schemas.recoverBody },
      responses: [ok('The code was mailed.', schemas.recoverySent)],
      errors: ['internal_error', ...WHEN_MAILED],
      async respond(request, response) {
        const token = await requestRecovery(request.body, request.ip);
        const answer: schemas.RecoverySent = {
          ...codeSent('recovery_token', `${appUrl}/api/agent/recover/verify`),
          recovery_token: token,
        };
        response.json(answer);
      },
    },
    {
      ...always,
      path: '/api/agent/recover/verify',
      operationId: 'verifyRecoveryCode',
      summary: 'Get a key with the mailed code',
      description:
        'Creates a key with all permissions for the account that was opened with exactly this address, and shows it only once. A notice is mailed to the address. Other keys keep working: list and revoke them with the new key. A code works once. After three wrong codes, start over.',
      body: { schema: schemas.recoverVerifyBody },
      responses: [
        {
          status: 201,
          description: 'The key.',
          content: [{ schema: schemas.keyRecovered }],
        },
      ],
      errors: [
        'internal_error',
        'invalid_recovery_token',
        'invalid_code',
        'code_expired',
        'too_many_attempts',
        'account_frozen',
        'not_found',
      ],
      async respond(request, response) {
        const recovered = await recoverKey(request.body);
        response.status(201).json(recovered);
      },
    },
  ];
}

/** The pages that links in mails of sign-up and recovery open. It stands before the routes, whose headers it sets. */
export function createSignupPages(deps: SignupDeps): Router {
  const limit = createOAuthLimits(deps.pool)('link');
  const router = Router();
  router.use('/api/agent', noStore);
  return router.use(createLinkRouter(signupLink(deps), limit), createLinkRouter(recoveryLink(deps), limit));
}

/** Responses contain tokens and keys. */
const noStore: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store');
  next();
};

function refuseIfDisabled({ signup }: SignupDeps): RequestHandler {
  return (_request, _response, next) => {
    if (!signup.enabled) throw new ApiError('agent_signup_disabled', 'Sign-up is disabled.');
    next();
  };
}

function codeSent(tokenField: string, url: string): Omit<schemas.CodeSent, 'signup_token'> {
  return {
    status: 'code_sent',
    expires_in: CODE_SECONDS,
    next: `Ask for the 6-digit code that was mailed to the address, and send it with ${tokenField} to POST ${url} within ${CODE_SECONDS / 60} minutes. If the mail contains a link instead, only the person can continue: its page shows them the key.`,
  };
}
