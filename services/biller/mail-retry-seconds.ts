const FIRST_RETRY_SECONDS = 60;
const MAX_RETRY_SECONDS = 3_600;

/** When a mail is tried again: after 1, 2, 4 … minutes, at most an hour. @param attempts made so far, at least 1 */
export function mailRetrySeconds(attempts: number): number {
  return Math.min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** (attempts - 1));
}
