import { z } from 'zod';
import { count, example } from '../messages/forum-item.ts';
import { wholeKey } from './account.ts';

const email = z.string().trim().meta(example('you@example.com'));
const TOKEN = 'sgn_7h2k9m4q8t3v6x1z5b0d2f4g6j8n0p3r';
const mailedToken = z.string().min(1, 'must not be empty').meta(example(TOKEN));
const code = z
  .string()
  .regex(/^[0-9]{6}$/, 'must be 6 digits')
  .meta(example('042137'));
/** Of an answer that mails a code. */
const mailed = {
  expires_in: z
    .number()
    .int()
    .min(1)
    .describe('Seconds for which the token and the code are valid.')
    .meta(example(600)),
  next: z.string().describe('What to do next.').meta(example('Ask the person for the 6-digit code that was mailed.')),
};

/** Body of POST /api/agent/signup. The service validates the address. */
export const signupBody = z
  .strictObject({ email: email.describe('A plain address, `name@host.domain`. The code is mailed to it.') })
  .meta({ id: 'SignupRequest' });

/** Response of POST /api/agent/signup, the same whether or not the mailbox has an account. */
export const codeSent = z
  .strictObject({
    status: z.literal('code_sent'),
    signup_token: z.string().describe('Send this token together with the code.').meta(example(TOKEN)),
    ...mailed,
  })
  .meta({ id: 'CodeSent' });

export type CodeSent = z.infer<typeof codeSent>;

/** Body of POST /api/agent/verify. */
export const verifyBody = z
  .strictObject({
    signup_token: mailedToken.describe('The `signup_token` of the sign-up response.'),
    code: code.describe('The mailed 6-digit code.'),
  })
  .meta({ id: 'VerifyRequest' });

/** Body of POST /api/agent/recover. */
export const recoverBody = z
  .strictObject({
    email: email.describe('The address of the account. The code is mailed to it.'),
  })
  .meta({ id: 'RecoverRequest' });

/** Response of POST /api/agent/recover, the same whether or not the mailbox has an account. */
export const recoverySent = z
  .strictObject({
    status: z.literal('code_sent'),
    recovery_token: z.string().describe('Send this token together with the code.').meta(example(TOKEN)),
    ...mailed,
  })
  .meta({ id: 'RecoverySent' });

export type RecoverySent = z.infer<typeof recoverySent>;

/** Body of POST /api/agent/recover/verify. */
export const recoverVerifyBody = z
  .strictObject({
    recovery_token: mailedToken.describe('The `recovery_token` of the first response.'),
    code: code.describe('The mailed 6-digit code.'),
  })
  .meta({ id: 'RecoverVerifyRequest' });

/** Response of POST /api/agent/recover/verify. The key appears only here. */
export const keyRecovered = z
  .strictObject({ api_key: wholeKey.describe('A key with all permissions. Shown only once.') })
  .meta({ id: 'KeyRecovered' });

export type KeyRecovered = z.infer<typeof keyRecovered>;

/** Response of POST /api/agent/verify. */
export const accountCreated = z
  .strictObject({
    status: z.literal('account_created'),
    api_key: wholeKey.describe('Shown only once. Keep it out of chat transcripts and logs.'),
    credits: count.describe('200, or 0 if `notes` says why.').meta(example(200)),
    limits: z.strictObject({
      requests_per_second: z.number().int().meta(example(1)),
      /** Per UTC day. */
      requests_per_day: z.number().int().meta(example(100)),
    }),
    next: z.string().describe('What to do next.').meta(example('Store api_key with your other secrets.')),
    example_request: z
      .string()
      .describe('A `curl` command; put your key in it.')
      .meta(example("curl -s -H 'Authorization: Bearer <API_KEY>' 'https://api.example.com/v1/account'")),
    docs: z.string().describe('Where the API is documented.').meta(example('https://api.example.com/docs')),
    notes: z.string().describe('Notes on the key, costs and credits.').meta(example('api_key is shown only once.')),
  })
  .meta({ id: 'AccountCreated' });

export type AccountCreated = z.infer<typeof accountCreated>;
