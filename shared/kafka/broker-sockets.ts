import net from 'node:net';
import tls from 'node:tls';
import type { ISocketFactoryArgs } from 'kafkajs';
import type { Clock } from '../runtime/clock.ts';

/** To connect, and for the first answer: kafkajs authenticates or asks for versions at once. */
const FIRST_ANSWER_MS = 3_000;
/** Longer than a busy broker takes, shorter than a cluster takes to replace one that hangs (9 s by default). */
const ANSWER_MS = 6_000;
/** JoinGroup and SyncGroup are answered when all members of the group have come, which have 60 s for that. */
const REBALANCE_MS = 70_000;
const API_KEYS = { produce: 0, joinGroup: 11, syncGroup: 14 };
/** How long a broker that did not answer gets no connection. It may have recovered and still be a leader. */
const REFUSED_MS = 10_000;
/** How long it is the last one to be asked for the others. */
const LAST_SEED_MS = 60_000;

/** kafkajs's type says that there is always TLS. */
type Address = Omit<ISocketFactoryArgs, 'ssl'> & { ssl?: ISocketFactoryArgs['ssl'] | undefined };

/**
 * A broker that hangs keeps its connections open, so that kafkajs asks it again and again. Here it looks as if it had
 * died: where an answer is overdue, all connections to it fail, and for a while further ones are refused, except to the
 * first seed: there is no other one, or the cluster is behind one address.
 */
export class BrokerSockets {
  private readonly brokers: readonly string[];
  private readonly clock: Clock;
  private readonly silentAt = new Map<string, number>();
  private readonly open = new Map<string, Set<net.Socket>>();

  /** @param brokers - each is host:port */
  constructor(brokers: readonly string[], clock: Clock) {
    this.brokers = brokers;
    this.clock = clock;
  }

  /** The brokers to ask for the others, in the order in which kafkajs tries them: those that hang come last. */
  readonly seeds = (): string[] => {
    const hangingAt = (broker: string) => (this.hung(broker, LAST_SEED_MS) ? this.silentAt.get(broker)! : 0);
    return this.brokers.toSorted((a, b) => hangingAt(a) - hangingAt(b));
  };

  readonly connect = ({ host, port, ssl, onConnect }: Address): net.Socket => {
    const address = { host, port };
    const broker = `${host}:${port}`;
    const servername = net.isIP(host) ? {} : { servername: host };
    const socket = ssl
      ? tls.connect({ ...address, ...servername, ...ssl }, onConnect)
      : net.connect(address, onConnect);
    socket.setKeepAlive(true, 60_000);
    // Until it is open, each request that kafkajs writes waits by a listener of Node's, which would warn of eleven.
    socket.setMaxListeners(0);
    if (this.hung(broker, REFUSED_MS) && broker !== this.seeds()[0]) fail(socket, 'ECONNREFUSED', 'hung recently');
    const open = this.open.get(broker) ?? new Set();
    this.open.set(broker, open.add(socket));
    socket.on('close', () => open.delete(socket));
    watchAnswers(socket, ssl ? 'secureConnect' : 'connect', () => {
      this.silentAt.set(broker, this.clock());
      for (const one of open) fail(one, 'ETIMEDOUT', 'did not answer on another connection');
    });
    return socket;
  };

  private hung(broker: string, ms: number): boolean {
    return this.clock() - (this.silentAt.get(broker) ?? Number.NEGATIVE_INFINITY) < ms;
  }
}

/** Each write is one request: size in four bytes, api key in two, and the rest. Answers come in the same order. */
function watchAnswers(socket: net.Socket, connected: string, onHanging: () => void): void {
  let isFirst = true;
  let timer: NodeJS.Timeout | undefined;
  let overdue: NodeJS.Immediate | undefined;
  const unanswered: { ms: number; apiKey: number }[] = [];
  const countAnswers = answerCounter();
  const expectAnswer = (ms: number, apiKey?: number) => {
    timer ??= setTimeout(() => {
      // The thread may have been busy: an answer that came meanwhile is read first.
      overdue = setImmediate(() => {
        fail(socket, 'ETIMEDOUT', `did not answer in ${ms} ms`);
        // A leader answers when its followers have the records. If one of them hangs, the leader does not.
        if (apiKey !== API_KEYS.produce) onHanging();
      });
    }, ms);
  };
  const stop = () => {
    clearTimeout(timer);
    clearImmediate(overdue);
    timer = undefined;
  };
  const answered = (chunk: Buffer) => {
    isFirst = false;
    stop();
    unanswered.splice(0, countAnswers(chunk));
    const next = unanswered[0];
    if (next) expectAnswer(next.ms, next.apiKey);
  };
  expectAnswer(FIRST_ANSWER_MS);
  socket.on(connected, stop).on('data', answered).on('close', stop);
  const write = socket.write.bind(socket) as (...all: unknown[]) => boolean;
  socket.write = (request: Buffer, ...rest: unknown[]) => {
    const apiKey = request.readInt16BE(4);
    const isJoin = apiKey === API_KEYS.joinGroup || apiKey === API_KEYS.syncGroup;
    const ms = isJoin ? REBALANCE_MS : isFirst && apiKey !== API_KEYS.produce ? FIRST_ANSWER_MS : ANSWER_MS;
    unanswered.push({ ms, apiKey });
    expectAnswer(ms, apiKey);
    return write(request, ...rest);
  };
}

/** Returns how many answers end in a chunk: each is its size in four bytes, and the rest. */
function answerCounter(): (chunk: Buffer) => number {
  const size = Buffer.alloc(4);
  let sizeBytes = 0;
  let left = 0;
  return (chunk) => {
    let answers = 0;
    for (let offset = 0; offset < chunk.length;) {
      if (left > 0) {
        const taken = Math.min(left, chunk.length - offset);
        offset += taken;
        left -= taken;
      } else {
        size[sizeBytes++] = chunk[offset++]!;
        if (sizeBytes < size.length) continue;
        sizeBytes = 0;
        left = size.readInt32BE(0);
      }
      if (left <= 0) answers++;
    }
    return answers;
  };
}

/** kafkajs looks for another coordinator of a group where the code says that the connection was refused. */
function fail(socket: net.Socket, code: 'ECONNREFUSED' | 'ETIMEDOUT', what: string): void {
  socket.destroy(Object.assign(new Error(`the broker ${what}`), { code }));
}
