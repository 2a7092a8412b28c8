import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
/**
 * No request is shorter than `GET / HTTP/1.1` and its end, 18 bytes: a cut of at least 16 holds the ends of two at
 * most.
 */
const LEAST_CUT = 16;
/** What a parser copies again with each cut of one long header is little. */
const LARGEST_CUT = 4 * 1024;

/**
 * A server's connection that is read one request at a time. While a request is served, nothing behind it is parsed, and
 * nothing further is read from the network once there is something behind it; the next is parsed when the answer is
 * with the kernel. So a client that pipelines, and does not read its answers, has one answer made for it and at most
 * one piece of its bytes held.
 *
 * Node's own server parses all requests of a piece, which has up to 64 KiB, and hands them over at once: it only stops
 * to read the next piece. Therefore pieces go to its parser in cuts that end where a request's head ends.
 */
export class SerialConnection {
  private readonly socket: Socket;
  private readonly listener: RequestListener;
  /** The server's own handler of bytes. */
  private readonly parse: (bytes: Buffer) => void;
  private serving: IncomingMessage | undefined;
  /** Parsed in the cut that held the end of the one served. */
  private readonly waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** Bytes that are read and not parsed. */
  private held: Buffer | undefined;

  /** @param socket of a 'connection' event, after the server's own handler */
  constructor(socket: Socket, listener: RequestListener) {
    this.socket = socket;
    this.listener = listener;
    const [parse] = socket.listeners('data');
    if (parse === undefined) throw new Error('the HTTP server does not listen for the bytes of a connection');
    this.parse = parse as typeof this.parse;
    // The new listener makes the server hand bytes over instead of parsing them below JavaScript.
    socket.on('data', (bytes: Buffer) => {
      this.held = this.held === undefined ? bytes : Buffer.concat([this.held, bytes]);
      this.advance();
    });
    socket.off('data', this.parse);
    // Whoever reads a request's body resumes its connection.
    socket.on('resume', () => this.advance());
    socket.on('drain', () => this.advance());
  }

  /** To be called with each request of the connection. */
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

  /** Parses what may be parsed; reads on when nothing is left. */
  private advance(): void {
    const { socket } = this;
    while (this.held !== undefined && this.mayParse()) {
      const cut = cutOf(this.held);
      const rest = this.held.subarray(cut.length);
      this.held = rest.length === 0 ? undefined : rest;
      this.parse.call(socket, cut);
    }
    if (socket.destroyed || socket.writableEnded) this.held = undefined;
    else if (this.held !== undefined) socket.pause();
    else if (socket.isPaused() && this.takesBytes()) socket.resume();
  }

  private mayParse(): boolean {
    const { socket } = this;
    // The server's parser must not be given bytes while the server itself has paused the connection.
    const isPaused = (socket as Socket & { _paused?: boolean })._paused === true;
    if (isPaused || socket.destroyed || socket.writableEnded || socket.writableNeedDrain) return false;
    return this.waiting.length === 0 && this.takesBytes();
  }

  /** Nothing is served, or bytes of its body are missing and there is room for them. */
  private takesBytes(): boolean {
    const { serving } = this;
    if (serving === undefined) return true;
    return !serving.complete && serving.readableLength < serving.readableHighWaterMark;
  }
}

/** The beginning of the bytes, up to the end of the first head in it. */
function cutOf(bytes: Buffer): Buffer {
  const end = bytes.subarray(0, LARGEST_CUT).indexOf(HEAD_END, LEAST_CUT - HEAD_END.length, 'latin1');
  return bytes.subarray(0, end < 0 ? LARGEST_CUT : end + HEAD_END.length);
}
