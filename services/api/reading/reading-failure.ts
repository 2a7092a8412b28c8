import { UpstreamError } from '../../../shared/upstream/upstream-error.ts';
import { ApiError } from '../http/api-error.ts';

/** What a route may say when the forum says no. */
export interface ReadingTraits {
  /** What was asked for, in the message of a 404: `community`, `post`, `user`. */
  subject: string;
  /**
   * What becomes of a denial. `forum_refused`: a refusal is told as it is, what is unknown is not_found; `not_found`:
   * both are; `upstream_error`: the forum has no reason to deny this, so something is wrong.
   */
  refusal: 'forum_refused' | 'not_found' | 'upstream_error';
}

const SHORT_WAIT_S = 1;
const LONG_WAIT_S = 5;

/** What the forum calls its reasons, in words. */
const REASONS: Record<string, string> = {
  private: 'it is private',
  quarantined: 'it is quarantined',
  gold_only: 'it is for paying members of the forum only',
};

/** Whether the forum itself said no to this, and would again: private, banned, unknown. A block of ours is none. */
export function isDenial(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  if (error.failure === 'not_found' || error.failure === 'moved') return true;
  return error.failure === 'refused' && error.status === 403 && error.reason !== 'blocked';
}

/** Whether the forum could not be asked, so that an older answer is better than none. */
export function isTrouble(error: unknown): boolean {
  return error instanceof UpstreamError && !isDenial(error);
}

const DENIAL_FOR_MS = 60_000;

/** How long a denial is taken for granted, in milliseconds. */
export function negativeForMs(error: unknown): number {
  return isDenial(error) ? DENIAL_FOR_MS : 0;
}

/** The API's error for what came of a call to the forum; anything but an UpstreamError stays as it is. */
export function toApiError(error: unknown, { subject, refusal }: ReadingTraits): unknown {
  if (!(error instanceof UpstreamError)) return error;
  if (isDenial(error) && refusal !== 'upstream_error') {
    const isRefused = error.failure === 'refused' && refusal === 'forum_refused';
    if (!isRefused) return new ApiError('not_found', `The forum has no such ${subject}.`);
    const why = REASONS[error.reason ?? ''] ?? `it answered "${printable(error.reason)}"`;
    return new ApiError('forum_refused', `The forum does not show this to logged-out readers: ${why}.`);
  }
  if (error.failure === 'busy') {
    const retryAfter = Math.max(SHORT_WAIT_S, Math.ceil((error.retryAfterMs ?? 0) / 1000));
    return new ApiError('upstream_busy', 'The forum takes no more calls for now.', { retryAfter });
  }
  const retryAfter = Math.max(LONG_WAIT_S, Math.ceil((error.retryAfterMs ?? 0) / 1000));
  if (error.failure === 'timeout') {
    return new ApiError('upstream_timeout', 'The forum did not answer in time.', { retryAfter });
  }
  return new ApiError('upstream_error', 'The forum could not be read.', { retryAfter });
}

function printable(reason = ''): string {
  return reason.replace(/[^\w .-]/g, '?').slice(0, 50);
}
