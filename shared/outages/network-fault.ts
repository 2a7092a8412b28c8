import { errorCode } from '../runtime/errors.ts';

/**
 * Node's codes for a server that cannot be reached at the moment, and for resources that this process has run out of.
 */
const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** Whether the network failed rather than the server: the same call may succeed later. */
export function isNetworkFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error) ?? '';
  if (CODES.has(code)) return true;
  // A Unix socket that does not exist yet, or whose server accepts no more connections at the moment.
  return (code === 'ENOENT' || code === 'EAGAIN') && 'syscall' in error && error.syscall === 'connect';
}
