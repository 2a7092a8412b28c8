import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
/**
 * The shortest request is `GET / HTTP/1.1` and its end, 18 bytes, so a cut of at least 16 contains the ends of at most
 * two.
 */
const MIN_CUT_BYTES = 16;
/** A parser copies one long header again with each cut; at this size the cost is small. */
const MAX_CUT_BYTES = 4 * 1024;

/**
 * Reads the connection of a server one request at a time. While a request is served, the bytes after it are not parsed,
 * and once there are such bytes nothing more is read from the network. The next request is parsed when the kernel has
 * the response. So a client that pipelines and does not read gets one response made, and at most one chunk of its bytes
 * is kept.
 *
 * Node's own server parses all requests of a chunk of up to 64 KiB and hands them over at once; it only stops before
 * the next chunk. Therefore its parser receives chunks in cuts that end where the head of a request ends.
 */
export class SerialConnection {
  private readonly socket: Socket;
  private readonly listener: RequestListener;
  /** The server's own handler of bytes. */
  private readonly parse: (bytes: Buffer) => void;
  private serving: IncomingMessage | undefined;
  /** Requests that were parsed in the same cut as the end of the one being served. */
  private readonly waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** Bytes that were read but not parsed. */
  private unparsed: Buffer | undefined;

  /** @param socket of a 'connection' event, after the server's own handler ran */
  constructor(socket: Socket, listener: RequestListener) {
    this.socket = socket;
    this.listener = listener;
    const [parse] = socket.listeners('data');
    if (parse === undefined) throw new Error('the HTTP server has no data listener on this connection');
    this.parse = parse as typeof this.parse;
    // With this listener the server passes bytes on instead of parsing them below JavaScript.
    socket.on('data', (bytes: Buffer) => {
      this.unparsed = this.unparsed === undefined ? bytes : Buffer.concat([this.unparsed, bytes]);
      this.advance();
    });
    socket.off('data', this.parse);
    // Reading the body of a request resumes its connection.
    socket.on('resume', () => this.advance());
    socket.on('drain', () => this.advance());
  }

  /** Call this with each request of the connection. */
  add(request: IncomingMessage, response: ServerResponse): void {
    if (this.serving === undefined) this.serve(request, response);
    else this.waiting.push([request, response]);
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    this.serving = request;
    response.once('finish', () => {
      this.serving = undefined;
      const next = this.waiting.shift();
      if (next) this.serve(...next);
      else this.advance();
    });
    this.listener(request, response);
  }

  /** Parses as much as allowed, and reads on when nothing is left. */
  private advance(): void {
    const { socket } = this;
    while (this.unparsed !== undefined && this.mayParse()) {
      const cut = nextCut(this.unparsed);
      const remaining = this.unparsed.subarray(cut.length);
      this.unparsed = remaining.length === 0 ? undefined : remaining;
      this.parse.call(socket, cut);
    }
    if (socket.destroyed || socket.writableEnded) this.unparsed = undefined;
    else if (this.unparsed !== undefined) socket.pause();
    else if (socket.isPaused() && this.acceptsBytes()) socket.resume();
  }

  private mayParse(): boolean {
    const { socket } = this;
    // The server's parser must not receive bytes while the server itself has paused the connection.
    const isPaused = (socket as Socket & { _paused?: boolean })._paused === true;
    if (isPaused || socket.destroyed || socket.writableEnded || socket.writableNeedDrain) return false;
    return this.waiting.length === 0 && this.acceptsBytes();
  }

  /** Whether nothing is being served, or the body being read is incomplete and has room for more bytes. */
  private acceptsBytes(): boolean {
    const { serving } = this;
    if (serving === undefined) return true;
    return !serving.complete && serving.readableLength < serving.readableHighWaterMark;
  }
}

/** The bytes up to the end of the first head in them. */
function nextCut(bytes: Buffer): Buffer {
  const end = bytes.subarray(0, MAX_CUT_BYTES).indexOf(HEAD_END, MIN_CUT_BYTES - HEAD_END.length, 'latin1');
  return bytes.subarray(0, end < 0 ? MAX_CUT_BYTES : end + HEAD_END.length);
}
