import { connect } from 'node:net';

/**
 * Asks a broker for its metadata in Kafka's own protocol (Metadata v4, no topics) and resolves when the answer lists a
 * registered broker. An open port alone proves little: it opens before the broker may serve.
 *
 * @throws Error when nothing answers within 2 s or no broker is registered yet.
 */
export function probeKafka(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let answer = Buffer.alloc(0);
    const fail = (reason: string) => {
      socket.destroy();
      reject(new Error(reason));
    };
    socket.setTimeout(2_000, () => fail('the broker does not answer'));
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => fail('the broker closed the connection'));
    socket.once('connect', () => socket.write(metadataRequest()));
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      // size (4), correlation id (4), throttle time (4), number of brokers (4)
      if (answer.length < 16) return;
      if (answer.readInt32BE(12) < 1) {
        fail('no broker is registered yet');
        return;
      }
      socket.destroy();
      resolve();
    });
  });
}

const METADATA = 3;
const VERSION = 4;

function metadataRequest(): Buffer {
  const client = Buffer.from('readiness');
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + client.length + 4 + 1);
  let at = request.writeInt32BE(request.length - 4, 0);
  at = request.writeInt16BE(METADATA, at);
  at = request.writeInt16BE(VERSION, at);
  at = request.writeInt32BE(1, at);
  at = request.writeInt16BE(client.length, at);
  at += client.copy(request, at);
  at = request.writeInt32BE(0, at);
  request.writeUInt8(0, at);
  return request;
}
