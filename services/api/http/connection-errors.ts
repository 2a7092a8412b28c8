import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from './api-error.ts';

/** The query and the headers together; enough for a hundred long URLs to look up. */
export const REQUEST_HEAD_BYTES = 64 * 1024;

/**
 * Answers input that is not HTTP, too large or too slow with the error envelope, and closes the connection. Such input
 * never reaches a route, so nothing is charged.
 */
export function answerConnectionErrors(server: Server): void {
  server.on('clientError', (error: ClientError, socket) => {
    // The peer reset the connection, or an answer is already under way: nothing can be sent.
    const answered = (socket as Duplex & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
    if (error.code === 'ECONNRESET' || !socket.writable || answered === true) {
      socket.destroy();
      return;
    }
    const refusal = new ApiError('invalid_request', messageOf(error));
    const body = JSON.stringify(refusal.envelope);
    const head = [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomUUID()}`,
      'Cache-Control: no-store',
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

/** What Node.js reports about input that it cannot parse. */
type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/** A request line whose target has a space. */
const TARGET_WITH_SPACE = /^[A-Z]+ \/[^\r\n]* [^\r\n]* HTTP\/1\.[01]\r?\n/;

function messageOf({ code, rawPacket }: ClientError): string {
  const isUnencoded =
    code === 'HPE_INVALID_URL' ||
    (code === 'HPE_INVALID_CONSTANT' && TARGET_WITH_SPACE.test(rawPacket?.toString('latin1') ?? ''));
  if (isUnencoded) {
    return 'The URL has a space or another character that must be percent-encoded: percent-encode the URL.';
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return `The query and the headers must have at most ${REQUEST_HEAD_BYTES / 1024} KiB together.`;
  }
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'The request did not arrive whole in time.' : 'This is not valid HTTP.';
}
