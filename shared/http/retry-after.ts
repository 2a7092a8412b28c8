/**
 * Milliseconds until the moment that a Retry-After header names: seconds (fractions allowed, as chat products send
 * them) or an HTTP date. Never negative; undefined when the header is absent or unreadable.
 *
 * @param now milliseconds since the epoch
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
 * Milliseconds that Discord's answer to too many requests asks to wait: `retry_after` of a JSON body, in seconds with a
 * fraction. Undefined when the body is something else.
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
