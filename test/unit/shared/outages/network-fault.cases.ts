/** Node's codes for a server that cannot be reached. */
export const NETWORK = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH'],
  ...['ENETDOWN', 'ENETRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS'],
];
