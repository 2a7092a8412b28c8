import type { AccountCreated, CodeSent, RecoverySent } from '../../../../schemas/api/signup.ts';

const token = 'sgn_7h2k9m4q8t3v6x1z5b0d2f4g6j8n0p3r';

const codeSent: CodeSent = {
  status: 'code_sent',
  signup_token: token,
  expires_in: 600,
  next: 'Ask for the 6-digit code that was mailed to the address, and send it with signup_token to POST https://app.example.com/api/agent/verify within 10 minutes. A mail that holds a link instead is for the person alone: its page shows them the key.',
};

const recoverySent: RecoverySent = {
  status: 'code_sent',
  recovery_token: token,
  expires_in: 600,
  next: 'Ask for the 6-digit code that was mailed to the address, and send it with recovery_token to POST https://app.example.com/api/agent/recover/verify within 10 minutes. A mail that holds a link instead is for the person alone: its page shows them the key.',
};

const accountCreated: AccountCreated = {
  status: 'account_created',
  api_key: 'fk_0a1b2c3d4e5f6g7h8j9k0m1n2p3q4r5s6t7v8w9x',
  credits: 200,
  limits: { requests_per_second: 1, requests_per_day: 100 },
  next: 'Store api_key where secrets are kept, and send it as "Authorization: Bearer <API_KEY>" with every request to /v1.',
  example_request:
    "curl -s -H 'Authorization: Bearer <API_KEY>' 'https://api.example.com/v1/forum/search?q=coffee&limit=3'",
  docs: 'https://api.example.com/docs',
  notes: 'api_key is shown this once: keep it secret, and out of chat transcripts and logs.',
};

/** Requests and answers of the sign-up routes, invented. */
export const signupExamples = {
  signupBody: { email: 'you@example.com' },
  verifyBody: { signup_token: token, code: '042137' },
  codeSent,
  recoverySent,
  recoverVerifyBody: { recovery_token: token, code: '042137' },
  accountCreated,
};
