import { createSocket } from 'node:dgram';
import { afterAll, expect, test } from 'vitest';
import { createDnsLookup } from '../../../shared/http/public-address.ts';
import { localFaultCode } from '../../../shared/http/local-fault.ts';
import { freePort } from '../../support/fixtures/free-port.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const NO_ERROR = 0;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;
const REFUSED = 5;

/**
 * A name server without any record.
 *
 * @param respond the response code for a name ('' is the root); undefined: silence
 */
async function nameServer(
  respond: (name: string) => number | undefined,
): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const name = nameIn(query);
    asked.push(name);
    const code = respond(name);
    if (code === undefined) return;
    const answer = Buffer.from(query);
    answer.writeUInt16BE(0x8180 | code, 2);
    // Without the query's additional records, which follow its question.
    answer.writeUInt16BE(0, 10);
    const length = 12 + Math.max(1, name.length + 2) + 4;
    socket.send(answer.subarray(0, length), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at]! > 0; at += query[at]! + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
  }
  return labels.join('.');
}

async function faultOf(server: string): Promise<{ code: string | undefined }> {
  const lookup = createDnsLookup([server]);
  const error = await lookup('receiver.test').then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  return { code: localFaultCode(error) };
}

test.concurrent.each([
  { what: 'that it does not exist', own: NAME_ERROR },
  { what: 'that it has no address', own: NO_ERROR },
])("a name for which the name server says $what is its owner's fault, without another query", async ({ own }) => {
  const { address, asked } = await nameServer(() => own);
  expect(await faultOf(address)).toEqual({ code: undefined });
  expect(asked).not.toContain('');
});

// The root is asked once, with a limit of a second, which a stall of this process may exceed.
test.concurrent.each([
  { what: 'fails', own: SERVER_FAILURE },
  { what: 'is refused', own: REFUSED },
  { what: 'is not answered', own: undefined },
])("a name that $what while the name server knows the root is its owner's fault", { retry: 2 }, async ({ own }) => {
  const { address } = await nameServer((name) => (name === '' ? NO_ERROR : own));
  expect(await faultOf(address)).toEqual({ code: undefined });
});

test.concurrent.each([
  { what: 'fails for every name', all: SERVER_FAILURE },
  { what: 'refuses every name', all: REFUSED },
  { what: 'is silent', all: undefined },
])('a name server that $what is a local fault', async ({ all }) => {
  const { address } = await nameServer(() => all);
  expect(await faultOf(address)).toEqual({ code: 'name_servers_away' });
});

test.concurrent('an unreachable name server is a local fault', async () => {
  expect(await faultOf(`127.0.0.1:${await freePort()}`)).toEqual({ code: 'name_servers_away' });
});
