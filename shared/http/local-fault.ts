/**
 * A request could not be sent for a reason that lies on this side: this machine, its name servers or its egress proxy. It says
 * nothing about the receiver.
 */
export class LocalFault extends Error {
  override name = 'LocalFault';
  readonly code: string;

  /** @param code of the system, or name_servers_away, proxy_away, proxy_refused */
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * System errors that only this side can mend. EHOSTUNREACH is not among them: a receiver's firewall often answers so. Nor are
 * ECONNREFUSED, ECONNRESET and ETIMEDOUT, which are a receiver's unless they come from our proxy or name servers.
 */
const LOCAL_CODES = new Set([
  // Out of file descriptors, memory or ports.
  ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAI_MEMORY', 'EADDRNOTAVAIL', 'EADDRINUSE'],
  // No network, or none of the address's family.
  ...['ENETUNREACH', 'ENETDOWN', 'EAFNOSUPPORT', 'EPROTONOSUPPORT'],
  // A firewall of this machine.
  ...['EACCES', 'EPERM'],
  // The system's resolver reaches no name server.
  ...['EAI_AGAIN', 'EAI_SYSTEM'],
]);

/**
 * The code of what failed on this side; undefined when the receiver, or its network, may be the cause. Looks into causes; of
 * several tries to connect all must have failed here.
 */
export function localFaultCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof LocalFault) return error.code;
  if (error instanceof AggregateError && error.errors.length > 0) {
    const codes = error.errors.map(localFaultCode);
    return codes.includes(undefined) ? undefined : codes[0];
  }
  if ('code' in error && LOCAL_CODES.has(String(error.code))) return String(error.code);
  return localFaultCode(error.cause);
}
