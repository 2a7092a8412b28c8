import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { KafkaCredential } from './kafka-properties.ts';

const METADATA = { key: 3, version: 4 };
const SASL_HANDSHAKE = { key: 17, version: 1 };
const SASL_AUTHENTICATE = { key: 36, version: 0 };

/**
 * Authenticates with a broker and requests its metadata, without topics, in Kafka's protocol. Resolves when the
 * response lists a registered broker. An open port is not enough, because it opens before the broker can serve.
 *
 * @throws Error when nothing answers within 2 s, the credential is refused, or no broker is registered yet.
 */
export async function probeKafka(port: number, { user, password }: KafkaCredential): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    const send = openConversation(socket);
    const handshake = await send(SASL_HANDSHAKE, text('PLAIN'));
    if (handshake.readInt16BE(0) !== 0) throw new Error('the broker does not offer SASL/PLAIN');
    const answer = await send(SASL_AUTHENTICATE, bytes(`\0${user}\0${password}`));
    if (answer.readInt16BE(0) !== 0) throw new Error('the broker refuses the credential');
    // No topics, and none to be created.
    const metadata = await send(METADATA, Buffer.from([0, 0, 0, 0, 0]));
    // throttle time (4), number of brokers (4)
    if (metadata.readInt32BE(4) < 1) throw new Error('no broker is registered yet');
  } finally {
    socket.destroy();
  }
}

type Send = (api: { key: number; version: number }, body: Buffer) => Promise<Buffer>;

/** Returns a function that sends a request and resolves with the response, without its size and correlation id. */
function openConversation(socket: Socket): Send {
  let received = Buffer.alloc(0);
  let failure: Error | undefined;
  let look = (): void => undefined;
  const fail = (reason: string) => {
    failure ??= new Error(reason);
    look();
  };
  socket.setTimeout(2_000, () => fail('the broker does not answer'));
  socket.once('error', (error) => fail(error.message));
  socket.once('close', () => fail('the broker closed the connection'));
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    look();
  });
  return (api, body) =>
    new Promise((resolve, reject) => {
      look = () => {
        const size = received.length < 4 ? Infinity : 4 + received.readInt32BE(0);
        if (received.length >= size) {
          const answer = received.subarray(8, size);
          received = received.subarray(size);
          resolve(answer);
        } else if (failure !== undefined) reject(failure);
      };
      socket.write(encodeRequest(api, body));
      look();
    });
}

function encodeRequest({ key, version }: { key: number; version: number }, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeInt16BE(key, 0);
  head.writeInt16BE(version, 2);
  head.writeInt32BE(1, 4);
  return bytes(Buffer.concat([head, text('readiness'), body]));
}

/** Encodes a string with a length prefix of two bytes. */
function text(value: string): Buffer {
  const size = Buffer.alloc(2);
  size.writeInt16BE(Buffer.byteLength(value), 0);
  return Buffer.concat([size, Buffer.from(value)]);
}

/** Encodes bytes with a length prefix of four bytes. */
function bytes(value: string | Buffer): Buffer {
  const content = Buffer.from(value);
  const size = Buffer.alloc(4);
  size.writeInt32BE(content.length, 0);
  return Buffer.concat([size, content]);
}
