import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A relay to one server that can stop forwarding, like a broken network, or close, like a stopped server. */
export class TcpProxy {
  private readonly target: URL;
  private readonly server: ReturnType<typeof createServer>;
  private readonly pairs = new Set<[Socket, Socket]>();
  private frozen = false;
  private isCut = false;
  private refusedCount = 0;
  private trap: string | undefined;
  private answerDelayMs = 0;
  /** What a broker's metadata names it by, and what replaces it; both have the same length. */
  private readonly addresses: { own: Buffer; relay: Buffer } | undefined;

  private constructor(target: URL, isKafka: boolean) {
    this.server = createServer((client) => {
      this.relay(client, connect(Number(target.port), target.hostname));
    });
    this.target = target;
    if (isKafka) this.addresses = { own: kafkaAddress(Number(target.port)), relay: Buffer.alloc(0) };
  }

  static async start(targetUrl: string): Promise<TcpProxy> {
    return TcpProxy.listen(new TcpProxy(new URL(targetUrl), false));
  }

  /** A relay to a broker at 127.0.0.1 that is alone: clients ask it for its address, and are told the relay's. */
  static async startKafka(targetUrl: string): Promise<TcpProxy> {
    const proxy = await TcpProxy.listen(new TcpProxy(new URL(targetUrl), true));
    proxy.addresses!.relay = kafkaAddress(proxy.port);
    return proxy;
  }

  private static async listen(proxy: TcpProxy): Promise<TcpProxy> {
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The server's URL, through this relay. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  private get port(): number {
    return (this.server.address() as AddressInfo).port;
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
    this.isCut = true;
    for (const pair of this.pairs) destroy(pair);
  }

  comeBack(): void {
    this.isCut = false;
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
    const answers: { due: number; data: Buffer }[] = [];
    // In their order, also after the delay has become shorter.
    const forward = () => {
      while (answers.length > 0 && answers[0]!.due <= performance.now()) client.write(answers.shift()!.data);
      if (answers.length > 0) setTimeout(forward, Math.max(1, answers[0]!.due - performance.now()));
    };
    server.on('data', (data) => {
      if (this.addresses !== undefined) readdress(data, this.addresses);
      answers.push({ due: performance.now() + this.answerDelayMs, data });
      if (answers.length === 1) forward();
    });
    if (this.isCut) {
      this.refusedCount++;
      destroy(pair);
    }
    if (this.frozen) hold(pair);
  }
}

/** A host with its port, as Kafka's protocol writes them. */
function kafkaAddress(port: number): Buffer {
  const end = Buffer.alloc(4);
  end.writeInt32BE(port);
  return Buffer.concat([Buffer.from('127.0.0.1'), end]);
}

function readdress(data: Buffer, { own, relay }: { own: Buffer; relay: Buffer }): void {
  for (let at = data.indexOf(own); at !== -1; at = data.indexOf(own, at + own.length)) relay.copy(data, at);
}

function hold(pair: [Socket, Socket]): void {
  for (const socket of pair) socket.pause();
}

function destroy(pair: [Socket, Socket]): void {
  for (const socket of pair) socket.destroy();
}
