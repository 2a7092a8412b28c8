import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createMailDomainCheck } from '../../../../shared/mail/mail-domain.ts';
import type { MailResolver } from '../../../../shared/mail/mail-domain.ts';

/** The answer of the name servers: records, the code of a failure, or no answer ever. */
type Saying = string[] | string;

function resolverOf(mx: Saying, a: Saying = 'ENODATA', aaaa: Saying = 'ENODATA'): MailResolver {
  const say = (saying: Saying): Promise<string[]> => {
    if (saying === 'never') return new Promise(() => undefined);
    return typeof saying === 'string'
      ? Promise.reject(Object.assign(new Error(saying), { code: saying }))
      : Promise.resolve(saying);
  };
  return {
    resolveMx: async () => (await say(mx)).map((exchange) => ({ exchange })),
    resolve4: () => say(a),
    resolve6: () => say(aaaa),
  };
}

describe('a domain accepts mail', () => {
  test.each<[string, MailResolver, boolean]>([
    ['with a mail exchanger', resolverOf(['mx.example.com']), true],
    ['with a null MX', resolverOf([''], ['192.0.2.1']), false],
    ['with a null MX written as a dot', resolverOf(['.'], ['192.0.2.1']), false],
    ['with a null MX beside a real one', resolverOf(['', 'mx.example.com']), true],
    ['with no such name', resolverOf('ENOTFOUND', ['192.0.2.1']), false],
    ['without MX, with an IPv4 address', resolverOf('ENODATA', ['192.0.2.1']), true],
    ['without MX, with an IPv6 address', resolverOf('ENODATA', 'ENODATA', ['2001:db8::1']), true],
    ['with an empty list of MX, and an address', resolverOf([], ['192.0.2.1']), true],
    ['without anything, in empty lists', resolverOf([], [], []), false],
    ['without MX, and gone by then', resolverOf('ENODATA', 'ENOTFOUND', 'ENOTFOUND'), false],
    ['without MX, and one kind of address unknown', resolverOf('ENODATA', 'ENODATA', 'ESERVFAIL'), true],
    ['when the answer is broken', resolverOf('EBADRESP'), true],
  ])('%s', async (_, resolver, expected) => {
    expect(await createMailDomainCheck(resolver)('example.com')).toBe(expected);
  });

  test.each([resolverOf('never'), resolverOf('ENODATA', 'never', 'never'), resolverOf('ENODATA', 'ENODATA', 'never')])(
    'when no answer arrives in time',
    async (resolver) => {
      expect(await createMailDomainCheck(resolver, 50)('example.com')).toBe(true);
    },
  );
});

/** A name server on loopback that answers every query with this code and no records; undefined: not at all. */
async function startNameServer(responseCode: number | undefined): Promise<{ resolver: Resolver; stop: () => void }> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    if (responseCode === undefined) return;
    const reply = Buffer.from(query);
    // A response, recursion available, and the code (RFC 1035, 4.1.1).
    reply.writeUInt16BE(0x8180 | responseCode, 2);
    socket.send(reply, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout: 200, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return { resolver, stop: () => void socket.close() };
}

describe('a real resolver', () => {
  test.each([
    ['rejects a domain that does not exist', 3, false],
    ['rejects a domain without records', 0, false],
    ['accepts a domain when the name server fails', 2, true],
    ['accepts a domain when the name server refuses the query', 5, true],
    ['accepts a domain when the name server is silent', undefined, true],
  ])('%s', async (_, responseCode, expected) => {
    const { resolver, stop } = await startNameServer(responseCode);
    expect(await createMailDomainCheck(resolver)('example.com')).toBe(expected);
    stop();
  });

  test('accepts a domain when no name server is reachable', async () => {
    const { resolver, stop } = await startNameServer(3);
    stop();
    expect(await createMailDomainCheck(resolver)('example.com')).toBe(true);
  });
});
