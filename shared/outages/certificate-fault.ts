import { errorCode } from '../runtime/errors.ts';

/** OpenSSL's reasons why a certificate is refused, as Node names them, and Node's own for a wrong name. */
const CODES = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'CERT_CHAIN_TOO_LONG',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/**
 * The code for which the certificate of a server was refused; undefined for any other error. While processes run it
 * counts as an outage: a certificate expires, and another one is installed.
 */
export function certificateFault(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = errorCode(e);
    if (code !== undefined && CODES.has(code)) return code;
  }
  return undefined;
}
