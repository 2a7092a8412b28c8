export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of an error of Node or of a client, as in ENOENT; undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** As the promise, or rejects with the signal's reason when it aborts first; the work then continues unobserved. */
export function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}

/** Settles when the promise does, or resolves when the signal aborts first. It leaves no listener on the signal. */
export async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  await rejectOnAbort(promise, signal).catch((error: unknown) => {
    if (!signal.aborted || error !== signal.reason) throw error;
  });
}

export type EngineName = 'kafka' | 'postgres' | 'clickhouse';

const ENGINE = Symbol('engine');

/**
 * Marks an error with the engine whose client threw it, because a refused connection looks the same for all engines.
 *
 * @returns the error
 */
export function markEngine<T>(error: T, engine: EngineName): T {
  if (error instanceof Error) Object.defineProperty(error, ENGINE, { value: engine, configurable: true });
  return error;
}

/** The engine that markEngine marked the error with; undefined when it is not marked. */
export function markedEngine(error: unknown): EngineName | undefined {
  return error instanceof Error ? (error as { [ENGINE]?: EngineName })[ENGINE] : undefined;
}

/** Node's codes for a server that cannot be reached at the moment, and for resources that this process has used up. */
const NETWORK_FAULTS = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH'],
  ...['ENETDOWN', 'ENETRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS'],
  ...['ERR_SOCKET_CONNECTION_TIMEOUT', 'ERR_STREAM_PREMATURE_CLOSE'],
]);

/** Whether the network failed rather than the server: the same call may succeed later. */
export function isNetworkFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error) ?? '';
  if (NETWORK_FAULTS.has(code)) return true;
  // A Unix socket that does not exist yet, or whose server accepts no more connections at the moment.
  return (code === 'ENOENT' || code === 'EAGAIN') && 'syscall' in error && error.syscall === 'connect';
}

/** OpenSSL's reasons why a certificate is refused, as Node names them, and Node's own for a wrong name. */
const CERTIFICATE_FAULT =
  /^CERT_|SELF_SIGNED_CERT|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT_ALTNAME_INVALID)$|^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/;

/**
 * The code for which the certificate of a server was refused; undefined for any other error. While processes run it
 * counts as an outage: a certificate expires, and another one is installed.
 */
export function certificateFault(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = errorCode(e);
    if (code !== undefined && CERTIFICATE_FAULT.test(code)) return code;
  }
  return undefined;
}
