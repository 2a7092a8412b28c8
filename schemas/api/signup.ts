import { z } from 'zod';

/** Body of POST /api/agent/signup. The service validates the address. */
export const signupBody = z
  .strictObject({
    email: z.string().trim().describe('One plain address, `name@host.domain`. The code is mailed to it.'),
  })
  .meta({ id: 'SignupRequest' });

/** Response of POST /api/agent/signup, the same whether or not the mailbox has an account. */
export const codeSent = z
  .strictObject({
    status: z.literal('code_sent'),
    signup_token: z.string().describe('Send it with the code.'),
    expires_in: z.number().int().min(1).describe('Seconds for which the token and the code are valid.'),
    next: z.string().describe('What to do next, in words.'),
  })
  .meta({ id: 'CodeSent' });

export type CodeSent = z.infer<typeof codeSent>;

const mailedToken = z.string().min(1, 'must not be empty');
const code = z.string().regex(/^[0-9]{6}$/, 'must be 6 digits');

/** Body of POST /api/agent/verify. */
export const verifyBody = z
  .strictObject({
    signup_token: mailedToken.describe("The `signup_token` of the sign-up's answer."),
    code: code.describe('The 6 digits that were mailed.'),
  })
  .meta({ id: 'VerifyRequest' });

/** Body of POST /api/agent/recover. */
export const recoverBody = z
  .strictObject({
    email: z.string().trim().describe('The address that the account was opened with. The code is mailed to it.'),
  })
  .meta({ id: 'RecoverRequest' });

/** Response of POST /api/agent/recover, the same whether or not the mailbox has an account. */
export const recoverySent = z
  .strictObject({
    status: z.literal('code_sent'),
    recovery_token: z.string().describe('Send it with the code.'),
    expires_in: z.number().int().min(1).describe('Seconds for which the token and the code are valid.'),
    next: z.string().describe('What to do next, in words.'),
  })
  .meta({ id: 'RecoverySent' });

export type RecoverySent = z.infer<typeof recoverySent>;

/** Body of POST /api/agent/recover/verify. */
export const recoverVerifyBody = z
  .strictObject({
    recovery_token: mailedToken.describe("The `recovery_token` of the first request's answer."),
    code: code.describe('The 6 digits that were mailed.'),
  })
  .meta({ id: 'RecoverVerifyRequest' });

/** Response of POST /api/agent/recover/verify. The key appears only here. */
export const keyRecovered = z
  .strictObject({ api_key: z.string().describe('A key with all permissions. Shown only this once.') })
  .meta({ id: 'KeyRecovered' });

export type KeyRecovered = z.infer<typeof keyRecovered>;

/** Response of POST /api/agent/verify. */
export const accountCreated = z
  .strictObject({
    status: z.literal('account_created'),
    api_key: z.string().describe('Shown only this once. Keep it out of chat transcripts and logs.'),
    credits: z.number().int().min(0).describe('200; 0 when `notes` says why.'),
    limits: z.strictObject({
      requests_per_second: z.number().int(),
      /** Per UTC day. */
      requests_per_day: z.number().int(),
    }),
    next: z.string().describe('What to do next, in words.'),
    example_request: z.string().describe('A `curl` command that only lacks the key.'),
    docs: z.string().describe('Where the API is documented.'),
    notes: z.string().describe('Notes on the key, costs and credits.'),
  })
  .meta({ id: 'AccountCreated' });

export type AccountCreated = z.infer<typeof accountCreated>;
