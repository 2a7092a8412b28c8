interface ErrorCodeFacts {
  status: number;
  /** Whether the same request may succeed later. */
  retryable: boolean;
}

/**
 * Every code of the error envelope. A code never changes its status or its meaning, because clients branch on it. Only
 * internal_error has two: while an engine is unavailable it is answered with OUTAGE_STATUS and the time to wait.
 */
export const ERROR_CODES = {
  invalid_request: { status: 400, retryable: false },
  invalid_email: { status: 400, retryable: false },
  disposable_email: { status: 400, retryable: false },
  undeliverable_email: { status: 400, retryable: false },
  invalid_signup_token: { status: 400, retryable: false },
  invalid_recovery_token: { status: 400, retryable: false },
  invalid_code: { status: 400, retryable: false },
  code_expired: { status: 400, retryable: false },
  too_many_attempts: { status: 400, retryable: false },
  unauthorized: { status: 401, retryable: false },
  insufficient_credits: { status: 402, retryable: false },
  monitor_limit_reached: { status: 402, retryable: false },
  insufficient_scope: { status: 403, retryable: false },
  account_frozen: { status: 403, retryable: false },
  forum_refused: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  not_acceptable: { status: 406, retryable: false },
  account_exists: { status: 409, retryable: false },
  idempotency_conflict: { status: 409, retryable: false },
  backfill_running: { status: 409, retryable: true },
  payload_too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  rate_limited: { status: 429, retryable: true },
  daily_limit_reached: { status: 429, retryable: true },
  internal_error: { status: 500, retryable: true },
  email_failed: { status: 502, retryable: true },
  agent_signup_busy: { status: 503, retryable: true },
  agent_signup_disabled: { status: 503, retryable: false },
  service_unavailable: { status: 503, retryable: true },
  upstream_busy: { status: 503, retryable: true },
  upstream_timeout: { status: 503, retryable: true },
  upstream_error: { status: 503, retryable: true },
} as const satisfies Record<string, ErrorCodeFacts>;

export const OUTAGE_STATUS = 503;

export type ErrorCode = keyof typeof ERROR_CODES;
