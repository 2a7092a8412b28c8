/** The errors of every route, written by hand, independent of the route declarations. */
const ALWAYS = {
  400: ['invalid_request'],
  401: ['unauthorized'],
  403: ['insufficient_scope', 'account_frozen'],
  405: ['method_not_allowed'],
  406: ['not_acceptable'],
  429: ['rate_limited', 'daily_limit_reached'],
  500: ['internal_error'],
  503: ['internal_error'],
};
const READING = {
  ...ALWAYS,
  402: ['insufficient_credits'],
  503: ['internal_error', 'upstream_busy', 'upstream_timeout', 'upstream_error'],
};
/** Of routes of which only some run at once. */
const BUSY = { 503: ['internal_error', 'service_unavailable'] };
const NOT_FOUND = { 404: ['not_found'] };
const REFUSED = { 403: ['insufficient_scope', 'account_frozen', 'forum_refused'] };
const BODY = { 413: ['payload_too_large'], 415: ['unsupported_media_type'] };

const PUBLIC_BODY = {
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  500: ['internal_error'],
  503: ['internal_error'],
};

const FEED = {
  400: ['invalid_request'],
  ...NOT_FOUND,
  429: ['rate_limited'],
  500: ['internal_error'],
  503: ['internal_error'],
};

export const documentedErrors: { route: string; errors: Record<string, string[]> }[] = [
  { route: 'get /v1/forum/post', errors: { ...READING, ...REFUSED, ...NOT_FOUND } },
  { route: 'get /v1/forum/post/duplicates', errors: { ...READING, ...REFUSED, ...NOT_FOUND } },
  { route: 'get /v1/forum/things', errors: READING },
  { route: 'get /v1/forum/subreddit', errors: { ...READING, ...REFUSED, ...NOT_FOUND } },
  { route: 'get /v1/forum/subreddit/about', errors: { ...READING, ...REFUSED, ...NOT_FOUND } },
  { route: 'get /v1/forum/subreddit/comments', errors: { ...READING, ...REFUSED, ...NOT_FOUND } },
  { route: 'get /v1/forum/subreddits', errors: READING },
  { route: 'get /v1/forum/user', errors: { ...READING, ...NOT_FOUND } },
  { route: 'get /v1/forum/user/posts', errors: { ...READING, ...NOT_FOUND } },
  { route: 'get /v1/forum/user/comments', errors: { ...READING, ...NOT_FOUND } },
  { route: 'get /v1/forum/search', errors: READING },
  { route: 'get /v1/forum/search/comments', errors: { ...READING, ...REFUSED } },
  {
    route: 'post /v1/monitors',
    errors: {
      ...ALWAYS,
      ...BODY,
      402: ['insufficient_credits', 'monitor_limit_reached'],
      409: ['idempotency_conflict'],
    },
  },
  { route: 'get /v1/monitors', errors: ALWAYS },
  { route: 'post /v1/monitors/parse', errors: { ...ALWAYS, ...BODY } },
  { route: 'get /v1/monitors/{id}', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'patch /v1/monitors/{id}', errors: { ...ALWAYS, ...BODY, ...NOT_FOUND } },
  { route: 'delete /v1/monitors/{id}', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'post /v1/monitors/{id}/pause', errors: { ...ALWAYS, ...NOT_FOUND } },
  {
    route: 'post /v1/monitors/{id}/resume',
    errors: {
      ...ALWAYS,
      402: ['insufficient_credits'],
      ...NOT_FOUND,
      409: ['idempotency_conflict'],
    },
  },
  {
    route: 'post /v1/monitors/{id}/rotate-secret',
    errors: { ...ALWAYS, ...NOT_FOUND, 409: ['idempotency_conflict'] },
  },
  { route: 'post /v1/monitors/{id}/test', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /v1/monitors/{id}/deliveries', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /v1/monitors/{id}/events', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'post /v1/monitors/{id}/redeliver', errors: { ...ALWAYS, ...BODY, ...NOT_FOUND } },
  { route: 'get /v1/monitors/{id}/matches', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'post /v1/sql', errors: { ...ALWAYS, ...BODY, ...BUSY, 402: ['insufficient_credits'] } },
  { route: 'post /v1/monitors/preview', errors: { ...ALWAYS, ...BODY, ...BUSY } },
  { route: 'post /v1/monitors/{id}/diff', errors: { ...ALWAYS, ...BODY, ...BUSY, ...NOT_FOUND } },
  { route: 'post /v1/monitors/explain', errors: { ...ALWAYS, ...BODY } },
  { route: 'get /v1/monitors/{id}/explain', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /v1/monitors/{id}/mutes', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'post /v1/monitors/{id}/mutes', errors: { ...ALWAYS, ...BODY, ...NOT_FOUND } },
  { route: 'delete /v1/monitors/{id}/mutes/{mute_id}', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /v1/monitors/{id}/timeseries', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /v1/monitors/{id}/latency', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /v1/monitors/{id}/backfill', errors: { ...ALWAYS, ...NOT_FOUND } },
  {
    route: 'post /v1/monitors/{id}/backfill',
    errors: {
      ...ALWAYS,
      ...BODY,
      402: ['insufficient_credits'],
      ...NOT_FOUND,
      409: ['idempotency_conflict', 'backfill_running'],
    },
  },
  { route: 'delete /v1/monitors/{id}/backfill/{run_id}', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'post /v1/monitors/{id}/feed-token', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'delete /v1/monitors/{id}/feed-token', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /feeds/{token}.atom', errors: FEED },
  { route: 'get /feeds/{token}.json', errors: FEED },
  { route: 'get /v1/monitors/{id}/matches/export', errors: { ...ALWAYS, ...BUSY, ...NOT_FOUND } },
  { route: 'get /v1/monitors/{id}/stream', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /v1/coverage', errors: { ...ALWAYS, 403: ['account_frozen'] } },
  { route: 'get /v1/account', errors: ALWAYS },
  { route: 'delete /v1/account', errors: { ...ALWAYS, ...BODY } },
  { route: 'get /v1/account/ledger', errors: ALWAYS },
  { route: 'get /v1/account/usage', errors: ALWAYS },
  { route: 'get /v1/account/grants', errors: ALWAYS },
  { route: 'delete /v1/account/grants/{id}', errors: { ...ALWAYS, ...NOT_FOUND } },
  { route: 'get /v1/account/keys', errors: ALWAYS },
  { route: 'post /v1/account/keys', errors: { ...ALWAYS, ...BODY, 409: ['idempotency_conflict'] } },
  { route: 'delete /v1/account/keys/{id}', errors: { ...ALWAYS, ...NOT_FOUND } },
  {
    route: 'post /api/agent/signup',
    errors: {
      ...PUBLIC_BODY,
      400: ['invalid_request', 'invalid_email', 'disposable_email', 'undeliverable_email'],
      429: ['rate_limited'],
      502: ['email_failed'],
      503: ['internal_error', 'agent_signup_busy', 'agent_signup_disabled'],
    },
  },
  {
    route: 'post /api/agent/verify',
    errors: {
      ...PUBLIC_BODY,
      400: ['invalid_request', 'invalid_signup_token', 'invalid_code', 'code_expired', 'too_many_attempts'],
      409: ['account_exists'],
      503: ['internal_error', 'agent_signup_disabled'],
    },
  },
  {
    route: 'post /api/agent/recover',
    errors: {
      ...PUBLIC_BODY,
      400: ['invalid_request', 'invalid_email', 'disposable_email', 'undeliverable_email'],
      429: ['rate_limited'],
      502: ['email_failed'],
      503: ['internal_error', 'agent_signup_busy'],
    },
  },
  {
    route: 'post /api/agent/recover/verify',
    errors: {
      ...PUBLIC_BODY,
      400: ['invalid_request', 'invalid_recovery_token', 'invalid_code', 'code_expired', 'too_many_attempts'],
      403: ['account_frozen'],
      ...NOT_FOUND,
    },
  },
  { route: 'get /healthz', errors: { 400: ['invalid_request'] } },
  { route: 'get /readyz', errors: { 400: ['invalid_request'] } },
  { route: 'get /status', errors: { 400: ['invalid_request'] } },
  { route: 'get /openapi.json', errors: { 400: ['invalid_request'] } },
];
