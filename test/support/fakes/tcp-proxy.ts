import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A relay to one server that can stop forwarding, like a broken network, or close, like a stopped server. */
export class TcpProxy {
  private readonly target: URL;
  private readonly server: ReturnType<typeof createServer>;
  private readonly pairs = new Set<[Socket, Socket]>();
  private frozen = false;
  private away = false;
  private refusedCount = 0;
  private trap: string | undefined;
  private answerDelayMs = 0;

  private constructor(target: URL) {
    this.server = createServer((client) => {
      this.relay(client, connect(Number(target.port), target.hostname));
    });
    this.target = target;
  }

  static async start(targetUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(targetUrl));
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The server's URL, through this relay. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** Connections of clients that are open. */
  get connections(): number {
    return this.pairs.size;
  }

  /** Connections that were attempted and broken at once since `goAway`. */
  get refused(): number {
    return this.refusedCount;
  }

  /** Stops forwarding on old and new connections without closing them. */
  freeze(): void {
    this.frozen = true;
    for (const pair of this.pairs) hold(pair);
  }

  /** Forwards the retained data and everything after it. */
  thaw(): void {
    this.frozen = false;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  /** The next connection that sends this text is never forwarded again, starting with that text. */
  silenceAt(text: string): void {
    this.trap = text;
  }

  /** Delays everything that the server sends. */
  delayAnswers(ms: number): void {
    this.answerDelayMs = ms;
  }

  /** Breaks all connections, including new ones. */
  goAway(): void {
    this.away = true;
    for (const pair of this.pairs) destroy(pair);
  }

  comeBack(): void {
    this.away = false;
  }

  async stop(): Promise<void> {
    this.goAway();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private relay(client: Socket, server: Socket): void {
    const pair: [Socket, Socket] = [client, server];
    this.pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        destroy(pair);
        this.pairs.delete(pair);
      });
    }
    client.on('data', (data) => {
      if (this.trap !== undefined && data.includes(this.trap)) {
        this.trap = undefined;
        hold(pair);
      } else server.write(data);
    });
    server.on('data', (data) => {
      if (this.answerDelayMs === 0) client.write(data);
      else setTimeout(() => client.write(data), this.answerDelayMs);
    });
    if (this.away) {
      this.refusedCount++;
      destroy(pair);
    }
    if (this.frozen) hold(pair);
  }
}

function hold(pair: [Socket, Socket]): void {
  for (const socket of pair) socket.pause();
}

function destroy(pair: [Socket, Socket]): void {
  for (const socket of pair) socket.destroy();
}
