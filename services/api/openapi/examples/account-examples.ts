import type { Account, AccountGrantResource, ApiKey, LedgerPage, Usage } from '../../../../schemas/api/account.ts';
import type { AccountCreated, CodeSent, RecoverySent } from '../../../../schemas/api/signup.ts';

const account: Account = {
  id: 'acc_5n2w8r0c6h1j',
  email: 'you@example.com',
  balance: 4_987,
  plan: 'pack_9',
  limits: {
    monitors: 10,
    daily_match_cap: 1_000,
    requests_per_second: 5,
    request_burst: 10,
    requests_per_day: null,
  },
  created_at: '2026-03-01T08:00:00.000Z',
};

const ledger: LedgerPage = {
  items: [
    {
      id: '1042',
      created_at: '2026-03-04T10:00:00.000Z',
      kind: 'monitor_create',
      amount: -10,
      balance_after: 4_987,
      reference: 'mon_3k7m2q9x4t8v:1',
      request_id: '0c8f7a52-6a6d-4f0e-9f0b-6f1d9a1f2b3c',
      route: 'POST /v1/monitors',
      key_id: '4q8z1n6d',
    },
    {
      id: '1003',
      created_at: '2026-03-03T17:12:45.120Z',
      kind: 'read',
      amount: -3,
      balance_after: 4_997,
      reference: '6b8f0c1e-3a52-4a0e-9f5d-0d6c1f3b7a90',
      request_id: '9e1d2c3b-4a5f-4e6d-8c7b-0a1b2c3d4e5f',
      route: 'GET /v1/forum/post',
      key_id: '4q8z1n6d',
    },
  ],
  after: '1003',
};

const usage: Usage = {
  by: 'route',
  from: '2026-02-03',
  to: '2026-03-04',
  items: [
    { day: null, route: 'POST /v1/monitors', key_id: null, charges: 1, credits: 10 },
    { day: null, route: 'GET /v1/forum/post', key_id: null, charges: 1, credits: 3 },
  ],
  total: { charges: 2, credits: 13 },
};

const key: ApiKey = {
  id: '4q8z1n6d',
  name: 'laptop',
  scopes: ['forum:read', 'monitors:read'],
  created_at: '2026-03-01T08:00:00.000Z',
  last_used_at: '2026-03-04T10:21:00.000Z',
};

const grant: AccountGrantResource = {
  id: 'gra_5f1c0b7a9d3e2f4860718293',
  client_id: 'https://notebook.example.com/client.json',
  client_name: 'Notebook',
  scopes: ['forum:read', 'monitors'],
  granted_at: '2026-03-02T09:30:00.000Z',
  last_used_at: '2026-03-04T10:21:00.000Z',
};

/** Requests and answers of the account routes, invented. */
export const accountExamples = {
  account,
  ledger,
  usage,
  ledgerTable: [
    'id,created_at,kind,amount,balance_after,reference,request_id,route,key_id',
    '1042,2026-03-04T10:00:00.000Z,monitor_create,-10,4987,mon_3k7m2q9x4t8v:1,0c8f7a52-6a6d-4f0e-9f0b-6f1d9a1f2b3c,POST /v1/monitors,4q8z1n6d',
    '',
  ].join('\r\n'),
  key,
  grant,
  wholeKey: `fk_${key.id}EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAM`,
};

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
