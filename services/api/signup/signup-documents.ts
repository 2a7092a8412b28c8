import * as schemas from '../../../schemas/api/signup.ts';
import type { RouteDocument } from '../http/route.ts';
import { signupExamples as examples } from '../openapi/examples/account-examples.ts';

const ALWAYS = ['internal_error', 'agent_signup_disabled'] as const;
/** Of the routes that mail a code. */
const WHEN_MAILED = [
  'invalid_email',
  'disposable_email',
  'undeliverable_email',
  'rate_limited',
  'email_failed',
  'agent_signup_busy',
] as const;

/** Documents the routes by which an agent gets a key. */
export const signupDocuments: readonly RouteDocument[] = [
  {
    method: 'post',
    path: '/api/agent/signup',
    operationId: 'requestSignupCode',
    tag: 'Sign-up',
    summary: 'Mail a code to an address',
    description:
      'Mails a 6-digit code that is valid for 10 minutes. The answer is the same whether or not the mailbox has an account. After too many wrong codes for a mailbox (6 in 24 hours, 12 in 30 days) the mail has a link instead: its page opens the account and shows the key only to the person who reads the mail. A body has at most 4 KiB. A mailbox gets at most 5 codes an hour and 10 a day for one network, and 10 an hour and 20 a day in all. A network of clients (an IPv4 /24, an IPv6 /64) gets 20 an hour and 100 a day, a /56 twice and a /48 four times as many.',
    body: { schema: schemas.signupBody, examples: { address: examples.signupBody } },
    answers: [
      {
        status: 200,
        description: 'The code was mailed.',
        content: [{ schema: schemas.codeSent, examples: { sent: examples.codeSent } }],
      },
    ],
    errors: [...ALWAYS, ...WHEN_MAILED],
    isPublic: true,
    isOfApp: true,
  },
  {
    method: 'post',
    path: '/api/agent/verify',
    operationId: 'verifySignupCode',
    tag: 'Sign-up',
    summary: 'Open an account with the mailed code',
    description:
      'Opens an account without a pack, and shows its key only this once: keep it out of chat transcripts. A mailbox gets free credits once; plus tags and, at providers that ignore them, dots do not make another mailbox. Except at large mail providers, at most three new accounts per domain get them within 24 hours. After three wrong codes start over; `too_many_attempts` is also the answer when a code is not judged because too many were tried for the mailbox.',
    body: { schema: schemas.verifyBody, examples: { code: examples.verifyBody } },
    answers: [
      {
        status: 201,
        description: 'The account is open.',
        content: [{ schema: schemas.accountCreated, examples: { created: examples.accountCreated } }],
      },
    ],
    errors: [...ALWAYS, 'invalid_signup_token', 'invalid_code', 'code_expired', 'too_many_attempts', 'account_exists'],
    isPublic: true,
    isOfApp: true,
  },
  {
    method: 'post',
    path: '/api/agent/recover',
    operationId: 'requestRecoveryCode',
    tag: 'Sign-up',
    summary: 'Mail a code that gives a key to an existing account',
    description:
      'For lost keys, and for accounts that were opened without one by signing in for the tool server. Mails a 6-digit code that is valid for 10 minutes. The answer and the mail are the same whether or not the mailbox has an account. The limits are those of sign-up, and shared with it. It works when sign-up is disabled, too.',
    body: { schema: schemas.recoverBody, examples: { address: examples.signupBody } },
    answers: [
      {
        status: 200,
        description: 'The code was mailed.',
        content: [{ schema: schemas.recoverySent, examples: { sent: examples.recoverySent } }],
      },
    ],
    errors: ['internal_error', ...WHEN_MAILED],
    isPublic: true,
    isOfApp: true,
  },
  {
    method: 'post',
    path: '/api/agent/recover/verify',
    operationId: 'verifyRecoveryCode',
    tag: 'Sign-up',
    summary: 'Get a key with the mailed code',
    description:
      'Creates a key with all permissions for the account that was opened with exactly this address, and shows it only this once. A notice is mailed to the address. Other keys keep working: list and revoke them with the new key. A code works once. After three wrong codes start over.',
    body: { schema: schemas.recoverVerifyBody, examples: { code: examples.recoverVerifyBody } },
    answers: [
      {
        status: 201,
        description: 'The key.',
        content: [
          { schema: schemas.keyRecovered, examples: { recovered: { api_key: examples.accountCreated.api_key } } },
        ],
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
    isPublic: true,
    isOfApp: true,
  },
];
