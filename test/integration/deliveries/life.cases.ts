/** What an endpoint does with a request. */
export type Answer =
  | number
  | { status: number; retryAfter: string; body?: string }
  /** Retry-After as an HTTP date, this many seconds from the answer's moment. */
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
  /** After /v1/monitors/{id}. */
  path?: string;
  body?: Record<string, unknown>;
}

export interface DeliveryLife {
  name: string;
  kind?: 'slack' | 'discord';
  /** Where the webhook points when not to the scripted endpoint. */
  endpoint?: 'port that nobody listens on' | 'name that does not resolve' | 'https on a port that speaks http';
  /** Of the first attempt, the second …; the last one is repeated. */
  answers: Answer[];
  /** What happens between the first attempt and the second. */
  meanwhile?: OwnerRequest | 'the thing is removed from the forum';
  /** HTTP status (0: none) and error of each attempt. */
  attempts: [number, string | null][];
  /** Seconds from each attempt's end to the next attempt. */
  waits: number[];
  ends: 'delivered' | 'failed' | 'skipped';
}

/** 30 s, 2 min, 10 min, 30 min and 2 h, with the 5 % that are added throughout this table. */
export const [FIRST, SECOND, THIRD, FOURTH, FIFTH] = [31.5, 126, 630, 1_890, 7_560] as const;
const LADDER = [FIRST, SECOND, THIRD, FOURTH, FIFTH];

const sixTimes = (status: number, error: string): [number, string][] =>
  Array.from({ length: 6 }, () => [status, error]);

const atOnce: DeliveryLife[] = [200, 201, 202, 204, 226, 299].map((status) => ({
  name: `${status} delivers`,
  answers: [status],
  attempts: [[status, null]],
  waits: [],
  ends: 'delivered',
}));

const final: DeliveryLife[] = [
  ...[300, 301, 302, 303, 304, 307, 308].map((status) => [status, 'redirect'] as const),
  ...[400, 401, 403, 404, 405, 408, 409, 410, 413, 422, 425, 428, 499].map(
    (status) => [status, 'http_status'] as const,
  ),
].map(([status, error]) => ({
  name: `${status} is final`,
  answers: [status],
  attempts: [[status, error]],
  waits: [],
  ends: 'failed',
}));

const again: DeliveryLife[] = [429, 500, 501, 502, 503, 504, 505, 599].map((status) => ({
  name: `${status} is tried six times`,
  answers: [status],
  attempts: sixTimes(status, 'http_status'),
  waits: LADDER,
  ends: 'failed',
}));

const withoutAnAnswer: DeliveryLife[] = [
  {
    name: 'nobody listens',
    endpoint: 'port that nobody listens on',
    answers: [],
    attempts: sixTimes(0, 'connect'),
    waits: LADDER,
    ends: 'failed',
  },
  {
    name: 'the name does not resolve',
    endpoint: 'name that does not resolve',
    answers: [],
    attempts: sixTimes(0, 'dns'),
    waits: LADDER,
    ends: 'failed',
  },
  {
    name: 'TLS fails',
    endpoint: 'https on a port that speaks http',
    answers: [],
    attempts: sixTimes(0, 'tls'),
    waits: LADDER,
    ends: 'failed',
  },
  {
    name: 'it never answers in time',
    answers: ['never answers'],
    attempts: sixTimes(0, 'timeout'),
    waits: LADDER,
    ends: 'failed',
  },
  {
    name: 'it resets the connection',
    answers: ['resets the connection'],
    attempts: sixTimes(0, 'connect'),
    waits: LADDER,
    ends: 'failed',
  },
];

const mixed: DeliveryLife[] = [
  {
    name: 'the sixth attempt may still deliver',
    answers: [500, 502, 'never answers', 'resets the connection', 429, 204],
    attempts: [
      [500, 'http_status'],
      [502, 'http_status'],
      [0, 'timeout'],
      [0, 'connect'],
      [429, 'http_status'],
      [204, null],
    ],
    waits: LADDER,
    ends: 'delivered',
  },
  {
    name: 'a final answer ends the ladder at any step',
    answers: [500, 503, 410],
    attempts: [
      [500, 'http_status'],
      [503, 'http_status'],
      [410, 'http_status'],
    ],
    waits: [FIRST, SECOND],
    ends: 'failed',
  },
  {
    name: 'a redirect ends the ladder at any step',
    answers: ['never answers', 302],
    attempts: [
      [0, 'timeout'],
      [302, 'redirect'],
    ],
    waits: [FIRST],
    ends: 'failed',
  },
  ...(['one megabyte', 'without end', 'cut off'] as const).map((content): DeliveryLife => ({
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
    name: '500 with a body of one megabyte is tried again',
    answers: [{ status: 500, content: 'one megabyte' }, 200],
    attempts: [
      [500, 'http_status'],
      [200, null],
    ],
    waits: [FIRST],
    ends: 'delivered',
  },
];

/** The wait after a first answer, which a 204 follows. */
const retryAfter: [string, Answer, number][] = [
  ['429 asks for 90 seconds', { status: 429, retryAfter: '90' }, 90],
  ['503 asks for an hour', { status: 503, retryAfter: '3600' }, 3_600],
  ['500 asks for 40 seconds', { status: 500, retryAfter: '40' }, 40],
  ['429 asks for a second and a half', { status: 429, retryAfter: '45.5' }, 45.5],
  ['429 names a moment in 20 minutes', { status: 429, retryAtSeconds: 1_200 }, 1_200],
  ['503 names a moment in 20 hours: two hours', { status: 503, retryAtSeconds: 72_000 }, 7_200],
  ['429 asks for a day: two hours', { status: 429, retryAfter: '86400' }, 7_200],
  ['429 asks for more seconds than there are: two hours', { status: 429, retryAfter: '9'.repeat(400) }, 7_200],
  ['429 asks for less than the ladder', { status: 429, retryAfter: '5' }, FIRST],
  ['429 asks for nothing', { status: 429, retryAfter: '0' }, FIRST],
  ['429 names a moment that has passed', { status: 429, retryAtSeconds: -600 }, FIRST],
  ['429 asks for what cannot be read', { status: 429, retryAfter: 'soon' }, FIRST],
  ['429 asks for a negative time', { status: 429, retryAfter: '-90' }, FIRST],
  ['429 asks for a list', { status: 429, retryAfter: '90, 100' }, FIRST],
  ['429 asks for an empty time', { status: 429, retryAfter: '' }, FIRST],
  ['429 asks for an exponent', { status: 429, retryAfter: '1e3' }, FIRST],
];

const asked: DeliveryLife[] = [
  ...retryAfter.map(([name, answer, wait]): DeliveryLife => ({
    name,
    answers: [answer, 204],
    attempts: [
      [typeof answer === 'object' ? answer.status : 0, 'http_status'],
      [204, null],
    ],
    waits: [wait],
    ends: 'delivered',
  })),
  {
    name: 'a time that is asked for takes no step of the ladder back',
    answers: [{ status: 429, retryAfter: '100' }, 500, { status: 503, retryAfter: '100' }, 204],
    attempts: [
      [429, 'http_status'],
      [500, 'http_status'],
      [503, 'http_status'],
      [204, null],
    ],
    waits: [100, SECOND, THIRD],
    ends: 'delivered',
  },
  {
    name: 'six times 429 with a time is the end too',
    answers: [{ status: 429, retryAfter: '7200' }],
    attempts: sixTimes(429, 'http_status'),
    waits: [7_200, 7_200, 7_200, 7_200, FIFTH],
    ends: 'failed',
  },
  {
    name: '404 with a time is final all the same',
    answers: [{ status: 404, retryAfter: '90' }],
    attempts: [[404, 'http_status']],
    waits: [],
    ends: 'failed',
  },
  {
    name: '302 with a time is final all the same',
    answers: [{ status: 302, retryAfter: '90' }],
    attempts: [[302, 'redirect']],
    waits: [],
    ends: 'failed',
  },
  {
    name: 'Discord asks in its body, and that is longer',
    kind: 'discord',
    answers: [{ status: 429, retryAfter: '40', body: '{"retry_after": 64.25}' }, 204],
    attempts: [
      [429, 'http_status'],
      [204, null],
    ],
    waits: [64.25],
    ends: 'delivered',
  },
  {
    name: 'Slack says that the channel is gone',
    kind: 'slack',
    answers: [404],
    attempts: [[404, 'http_status']],
    waits: [],
    ends: 'failed',
  },
];

/** 500, then 204, unless the owner has done something in between. */
const changes: [string, DeliveryLife['meanwhile'], 'delivered' | 'skipped'][] = [
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
  ['the webhook is removed with an empty string', { method: 'PATCH', body: { webhook_url: '' } }, 'skipped'],
  ['the monitor is deleted', { method: 'DELETE' }, 'skipped'],
];

const inBetween: DeliveryLife[] = changes.map(([name, meanwhile, ends]) => ({
  name,
  answers: [500, 204],
  ...(meanwhile ? { meanwhile } : {}),
  attempts: [[500, 'http_status'], ...(ends === 'delivered' ? [[204, null] as [number, null]] : [])],
  waits: ends === 'delivered' ? [FIRST] : [],
  ends,
}));

export const DELIVERY_LIVES: DeliveryLife[] = [
  ...atOnce,
  ...final,
  ...again,
  ...withoutAnAnswer,
  ...mixed,
  ...asked,
  ...inBetween,
];
