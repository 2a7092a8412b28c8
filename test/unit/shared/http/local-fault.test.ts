import { expect, test } from 'vitest';
import { localFaultCode } from '../../../../shared/http/local-fault.ts';

function systemError(code: string, cause?: unknown): Error {
  return Object.assign(new Error(`connect ${code}`, cause === undefined ? {} : { cause }), { code });
}

test.each([
  // Out of file descriptors, memory, ports.
  ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAI_MEMORY', 'EADDRNOTAVAIL', 'EADDRINUSE'],
  // No network, no address family, a firewall of this machine.
  ...['ENETUNREACH', 'ENETDOWN', 'EAFNOSUPPORT', 'EPROTONOSUPPORT', 'EACCES', 'EPERM'],
  // No name server answers.
  ...['EAI_AGAIN', 'EAI_SYSTEM'],
])('%s is a local fault', (code) => {
  expect(localFaultCode(systemError(code))).toBe(code);
  expect(localFaultCode(new Error('no socket', { cause: systemError(code) }))).toBe(code);
});

test.each([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'EPROTO'],
  ...['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT', 'EAI_FAIL', 'EAI_NONAME', 'EAI_NODATA'],
  ...['UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_OVERFLOW', 'HPE_INVALID_CONSTANT'],
  ...[
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ],
])('%s may be the fault of the receiver', (code) => {
  expect(localFaultCode(systemError(code))).toBeUndefined();
});

test('an AggregateError is a local fault only when every attempt failed locally', () => {
  const both = (...codes: string[]) => new AggregateError(codes.map((code) => systemError(code)));
  expect(localFaultCode(both('ENETUNREACH', 'EADDRNOTAVAIL'))).toBe('ENETUNREACH');
  expect(localFaultCode(both('ECONNREFUSED', 'ENETUNREACH'))).toBeUndefined();
  expect(localFaultCode(both('ENETUNREACH', 'ETIMEDOUT'))).toBeUndefined();
  expect(localFaultCode(both())).toBeUndefined();
});

test('an unreachable IPv6 address has its own code, and the code of an IPv4 attempt takes precedence', () => {
  const to = (address: string, code: string) => Object.assign(systemError(code), { address });
  const [v6, v4] = [to('2001:db8::1', 'ENETUNREACH'), to('192.0.2.1', 'ENETUNREACH')];
  expect(localFaultCode(v6)).toBe('ipv6_unreachable');
  expect(localFaultCode(to('2001:db8::1', 'EADDRNOTAVAIL'))).toBe('ipv6_unreachable');
  expect(localFaultCode(to('2001:db8::1', 'EMFILE'))).toBe('EMFILE');
  expect(localFaultCode(v4)).toBe('ENETUNREACH');
  expect(localFaultCode(new AggregateError([v6, v6]))).toBe('ipv6_unreachable');
  expect(localFaultCode(new AggregateError([v6, v4]))).toBe('ENETUNREACH');
});
