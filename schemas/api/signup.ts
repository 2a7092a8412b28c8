import { z } from 'zod';

/** Body of POST /api/agent/signup. The service validates the address. */
export const signupBody = z.strictObject({ email: z.string().trim() });

/** Answer of POST /api/agent/signup, the same whether or not the mailbox has an account. */
export const codeSent = z.strictObject({
  status: z.literal('code_sent'),
  signup_token: z.string(),
  /** Seconds. */
  expires_in: z.number().int().min(1),
  next: z.string(),
});

export type CodeSent = z.infer<typeof codeSent>;

const mailedToken = z.string().min(1, 'must not be empty');
const code = z.string().regex(/^[0-9]{6}$/, 'must be 6 digits');

/** Body of POST /api/agent/verify. */
export const verifyBody = z.strictObject({ signup_token: mailedToken, code });

/** Body of POST /api/agent/recover. */
export const recoverBody = z.strictObject({ email: z.string().trim() });

/** Answer of POST /api/agent/recover, the same whether or not the mailbox has an account. */
export const recoverySent = z.strictObject({
  status: z.literal('code_sent'),
  recovery_token: z.string(),
  /** Seconds. */
  expires_in: z.number().int().min(1),
  next: z.string(),
});

export type RecoverySent = z.infer<typeof recoverySent>;

/** Body of POST /api/agent/recover/verify. */
export const recoverVerifyBody = z.strictObject({ recovery_token: mailedToken, code });

/** Answer of POST /api/agent/recover/verify. The key appears only here. */
export const keyRecovered = z.strictObject({ api_key: z.string() });

export type KeyRecovered = z.infer<typeof keyRecovered>;

/** Answer of POST /api/agent/verify. */
export const accountCreated = z.strictObject({
  status: z.literal('account_created'),
  /** Appears only here. */
  api_key: z.string(),
  credits: z.number().int().min(0),
  limits: z.strictObject({
    requests_per_second: z.number().int(),
    /** Per UTC day. */
    requests_per_day: z.number().int(),
  }),
  next: z.string(),
  example_request: z.string(),
  docs: z.string(),
  notes: z.string(),
});

export type AccountCreated = z.infer<typeof accountCreated>;
