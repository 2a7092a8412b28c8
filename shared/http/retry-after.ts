/**
 * Parses a Retry-After header: seconds (with fractions, as chat products send them) or an HTTP date.
 *
 * @param now milliseconds since the epoch
 * @returns milliseconds to wait, never negative; undefined when the header is absent or unreadable
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  if (!/^[A-Z][a-z]{2},/.test(text)) return undefined;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}

/**
 * Parses the wait in Discord's answer to too many requests: `retry_after` of a JSON body, in seconds with a fraction.
 *
 * @returns milliseconds; undefined for any other body
 */
export function parseRetryAfterBody(body: string): number | undefined {
  const seconds = retryAfterField(body);
  return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
}

function retryAfterField(body: string): unknown {
  try {
    const answer: unknown = JSON.parse(body);
    return typeof answer === 'object' && answer !== null && 'retry_after' in answer ? answer.retry_after : undefined;
  } catch {
    return undefined;
  }
}
