/**
 * Codes of Node for a server that cannot be reached, or not now; and for what this process has too little of to ask it.
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

/** True when the network, not the server's answer, is why it failed: the same call may succeed later. */
export function isNetworkFault(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const code = String(error.code);
  if (CODES.has(code)) return true;
  // A Unix socket that is not there yet, or whose server takes no more connections for now.
  return (code === 'ENOENT' || code === 'EAGAIN') && 'syscall' in error && error.syscall === 'connect';
}
