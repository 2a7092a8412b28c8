import type { LiveTailEnd } from '../../../schemas/api/live-tail.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';

// The format is that of the HTML standard, "Server-sent events". JSON holds no line break, so each `data` is one line.

/** After a lost connection a client waits this long before it connects again, in milliseconds. */
const RETRY_MS = 3_000;

/** Proxies and clients see at once that the stream is open. */
export const STREAM_BEGIN = `retry: ${RETRY_MS}\n: the stream is open\n\n`;

export const HEARTBEAT = ':\n\n';

/** One match. Clients that lost the connection send its id as `Last-Event-ID`. */
export function matchEvent(match: MonitorMatch): string {
  return `id: ${match.id}\nevent: match\ndata: ${JSON.stringify(match)}\n\n`;
}

/** The last event of a stream that must not be opened again. */
export function endEvent(reason: LiveTailEnd): string {
  return `event: end\ndata: ${JSON.stringify({ reason })}\n\n`;
}
