import type { LiveTailEnd } from '../../../schemas/api/live-tail.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';

// The format is "Server-sent events" of the HTML standard. JSON has no line breaks, so each `data` is one line.

/** How long a client waits before it reconnects, in milliseconds. */
const RETRY_MS = 3_000;

/** The first bytes of a stream: proxies and clients see at once that it is open. */
export const STREAM_BEGIN = `retry: ${RETRY_MS}\n: the stream is open\n\n`;

export const HEARTBEAT = ':\n\n';

/** One match. A client that reconnects sends its id as `Last-Event-ID`. */
export function matchEvent(match: MonitorMatch): string {
  return `id: ${match.id}\nevent: match\ndata: ${JSON.stringify(match)}\n\n`;
}

/** One entry of a list on a page: its markup, and the id of its element. */
export function itemEvent(matchId: string, entry: { id: string; markup: string }): string {
  return `id: ${matchId}\nevent: item\ndata: ${JSON.stringify(entry)}\n\n`;
}

/** The last event of a stream that the client must not reopen. */
export function endEvent(reason: LiveTailEnd): string {
  return `event: end\ndata: ${JSON.stringify({ reason })}\n\n`;
}
