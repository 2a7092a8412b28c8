/** How an endpoint answers a request. */
export type Answer =
  | number
  | { status: number; retryAfter: string; body?: string }
  /** Retry-After as an HTTP date, this many seconds after the answer. */
  | { status: number; retryAtSeconds: number }
  | { status: number; content: 'one megabyte' | 'without end' | 'cut off' }
  | 'never answers'
  | 'resets the connection';

/**
 * A request of the monitor's owner; `<other receiver>` in a body stands for the URL of another endpoint, which answers
 * 204.
 */
export interface OwnerRequest {
  method: 'PATCH' | 'POST' | 'DELETE';
  /** The path after /v1/monitors/{id}. */
  path?: string;
  body?: Record<string, unknown>;
}

export interface DeliveryScenario {
  name: string;
  kind?: 'slack' | 'discord';
  /** The webhook's address when it is not the scripted endpoint. */
  endpoint?: 'port that nobody listens on' | 'name that does not resolve' | 'https on a port that speaks http';
  /** Answers to the first attempt, the second …; the last one is repeated. */
  answers: Answer[];
  /** Happens between the first attempt and the second. */
  meanwhile?: OwnerRequest | 'the thing is removed from the forum';
  /** HTTP status (0: none) and error of each attempt. */
  attempts: [number, string | null][];
  /** Seconds from each attempt's end to the next attempt. */
  waits: number[];
  ends: 'delivered' | 'failed' | 'skipped';
}

/** 30 s, 2 min, 10 min, 30 min and 2 h, with the 5 % that are added throughout this table. */
export const [FIRST, SECOND, THIRD, FOURTH, FIFTH] = [31.5, 126, 630, 1_890, 7_560] as const;
const RETRY_WAITS = [FIRST, SECOND, THIRD, FOURTH, FIFTH];

const sixTimes = (status: number, error: string): [number, string][] =>
  Array.from({ length: 6 }, () => [status, error]);

const atOnce: DeliveryScenario[] = [200, 299].map((status) => ({
  name: `${status} delivers`,
  answers: [status],
  attempts: [[status, null]],
  waits: [],
  ends: 'delivered',
}));

const final: DeliveryScenario[] = [
  ...[300, 308].map((status) => [status, 'redirect'] as const),
  ...[400, 408, 410, 499].map((status) => [status, 'http_status'] as const),
].map(([status, error]) => ({
  name: `${status} is final`,
  answers: [status],
  attempts: [[status, error]],
  waits: [],
  ends: 'failed',
}));

const again: DeliveryScenario[] = [429, 500, 599].map((status) => ({
  name: `${status} is tried six times`,
  answers: [status],
  attempts: sixTimes(status, 'http_status'),
  waits: RETRY_WAITS,
  ends: 'failed',
}));

const withoutAnAnswer: DeliveryScenario[] = [
  {
    name: 'nobody listens',
    endpoint: 'port that nobody listens on',
    answers: [],
    attempts: sixTimes(0, 'connect'),
    waits: RETRY_WAITS,
    ends: 'failed',
  },
  {
    name: 'the name does not resolve',
    endpoint: 'name that does not resolve',
    answers: [],
    attempts: sixTimes(0, 'dns'),
    waits: RETRY_WAITS,
    ends: 'failed',
  },
  {
    name: 'TLS fails',
    endpoint: 'https on a port that speaks http',
    answers: [],
    attempts: sixTimes(0, 'tls'),
    waits: RETRY_WAITS,
    ends: 'failed',
  },
];

const mixed: DeliveryScenario[] = [
  {
    name: 'the sixth attempt can still deliver',
    answers: ['never answers', 500, 502, 'resets the connection', 429, 204],
    attempts: [
      [0, 'timeout'],
      [500, 'http_status'],
      [502, 'http_status'],
      [0, 'connect'],
      [429, 'http_status'],
      [204, null],
    ],
    waits: RETRY_WAITS,
    ends: 'delivered',
  },
  {
    name: 'a final answer ends the retries at any step',
    answers: [500, 503, 410],
    attempts: [
      [500, 'http_status'],
      [503, 'http_status'],
      [410, 'http_status'],
    ],
    waits: [FIRST, SECOND],
    ends: 'failed',
  },
  ...(['one megabyte', 'without end', 'cut off'] as const).map((content): DeliveryScenario => ({
    name: `200 with a body ${content} delivers`,
    answers: [{ status: 200, content }],
    attempts: [[200, null]],
    waits: [],
    ends: 'delivered',
  })),
  {
    name: '400 with a body without end is final',
    answers: [{ status: 400, content: 'without end' }],
    attempts: [[400, 'http_status']],
    waits: [],
    ends: 'failed',
  },
  {
    name: '500 with a body of one megabyte is retried',
    answers: [{ status: 500, content: 'one megabyte' }, 200],
    attempts: [
      [500, 'http_status'],
      [200, null],
    ],
    waits: [FIRST],
    ends: 'delivered',
  },
];

/** With SECOND after it, it is due with the third retry of others, so that the clock stops less often. */
const ASKED = 661.5;
/** Answer to the first attempt, and the wait before the second one, which is answered 204. */
const retryAfter: [string, Answer, number, kind?: 'slack' | 'discord'][] = [
  ['429 asks for eleven minutes', { status: 429, retryAfter: '661.5' }, ASKED],
  ['429 gives a date in 20 minutes', { status: 429, retryAtSeconds: 1_200 }, 1_200],
  ['429 asks for a day: two hours', { status: 429, retryAfter: '86400' }, 7_200],
  ['429 asks for less than the retry schedule', { status: 429, retryAfter: '5' }, FIRST],
  ['Slack asks in its header', { status: 429, retryAfter: '661.5', body: '{"retry_after": 700}' }, ASKED, 'slack'],
  ['Discord asks in its body', { status: 429, retryAfter: '40', body: '{"retry_after": 661.5}' }, ASKED, 'discord'],
  [
    'Discord asks for too much: two hours',
    { status: 429, retryAfter: '', body: '{"retry_after": 1e9}' },
    7_200,
    'discord',
  ],
];

const asked: DeliveryScenario[] = [
  ...retryAfter.map(([name, answer, wait, kind]): DeliveryScenario => ({
    name,
    ...(kind ? { kind } : {}),
    answers: [answer, 204],
    attempts: [
      [typeof answer === 'object' ? answer.status : 0, 'http_status'],
      [204, null],
    ],
    waits: [wait],
    ends: 'delivered',
  })),
  {
    name: 'a Retry-After does not repeat a step of the retry schedule',
    answers: [{ status: 429, retryAfter: '661.5' }, 500, 204],
    attempts: [
      [429, 'http_status'],
      [500, 'http_status'],
      [204, null],
    ],
    waits: [ASKED, SECOND],
    ends: 'delivered',
  },
  {
    name: '302 with Retry-After is final',
    answers: [{ status: 302, retryAfter: '90' }],
    attempts: [[302, 'redirect']],
    waits: [],
    ends: 'failed',
  },
];

/** Of chat products: none of these says that later it could succeed. */
const refusals: DeliveryScenario[] = (
  [
    ['slack', 403, 'action_prohibited'],
    ['slack', 410, 'channel_is_archived'],
    ['discord', 400, '{"message": "Invalid Form Body", "code": 50035, "retry_after": 60}'],
  ] as const
).map(([kind, status, body]) => ({
  name: `${kind} refuses with ${status}`,
  kind,
  answers: [{ status, retryAfter: '', body }],
  attempts: [[status, 'http_status']],
  waits: [],
  ends: 'failed',
}));

/** The endpoint answers 500, then 204; the owner acts in between. */
const changes: [string, DeliveryScenario['meanwhile'], 'delivered' | 'skipped'][] = [
  ['the URL is changed', { method: 'PATCH', body: { webhook_url: '<other receiver>' } }, 'delivered'],
  ['the secret is rotated', { method: 'POST', path: '/rotate-secret' }, 'delivered'],
  ['the kind is changed', { method: 'PATCH', body: { webhook_kind: 'slack' } }, 'delivered'],
  ['the name and the rule are changed', { method: 'PATCH', body: { name: 'alloys', keywords: ['tin'] } }, 'delivered'],
  ['the monitor is paused', { method: 'POST', path: '/pause' }, 'delivered'],
  ['the thing is removed', 'the thing is removed from the forum', 'delivered'],
  ['a test is sent', { method: 'POST', path: '/test' }, 'delivered'],
  [
    'a resend is asked for, of what is still pending',
    { method: 'POST', path: '/redeliver', body: { since: '2000-01-01T00:00:00Z' } },
    'delivered',
  ],
  ['the webhook is removed with null', { method: 'PATCH', body: { webhook_url: null } }, 'skipped'],
  ['the monitor is deleted', { method: 'DELETE' }, 'skipped'],
];

const inBetween: DeliveryScenario[] = changes.map(([name, meanwhile, ends]) => ({
  name,
  answers: [500, 204],
  ...(meanwhile ? { meanwhile } : {}),
  attempts: [[500, 'http_status'], ...(ends === 'delivered' ? [[204, null] as [number, null]] : [])],
  waits: ends === 'delivered' ? [FIRST] : [],
  ends,
}));

export const DELIVERY_SCENARIOS: DeliveryScenario[] = [
  ...atOnce,
  ...final,
  ...again,
  ...withoutAnAnswer,
  ...mixed,
  ...asked,
  ...refusals,
  ...inBetween,
];
