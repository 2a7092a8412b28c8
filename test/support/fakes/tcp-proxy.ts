import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A relay to one server that can fall silent, as a broken network does, or go away, as a server does. */
export class TcpProxy {
  private readonly target: URL;
  private readonly server: ReturnType<typeof createServer>;
  private readonly pairs = new Set<[Socket, Socket]>();
  private frozen = false;
  private away = false;
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

  /** Nothing passes any more, on old and new connections, and nobody is told. */
  freeze(): void {
    this.frozen = true;
    for (const pair of this.pairs) hold(pair);
  }

  /** What was held passes now, and everything after it. */
  thaw(): void {
    this.frozen = false;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  /** The next connection that sends this text falls silent for good, before the text is passed on. */
  silenceAt(text: string): void {
    this.trap = text;
  }

  /** Everything the server says arrives so much later. */
  delayAnswers(ms: number): void {
    this.answerDelayMs = ms;
  }

  /** Connections break, and new ones too. */
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
    if (this.away) destroy(pair);
    if (this.frozen) hold(pair);
  }
}

function hold(pair: [Socket, Socket]): void {
  for (const socket of pair) socket.pause();
}

function destroy(pair: [Socket, Socket]): void {
  for (const socket of pair) socket.destroy();
}
