export type MailFailure = 'connection' | 'timeout' | 'tls' | 'login' | 'refused' | 'outbox';

const FAILURES: Readonly<Record<string, MailFailure>> = {
  EABORT: 'timeout',
  ETIMEDOUT: 'timeout',
  ETLS: 'tls',
  EREQUIRETLS: 'tls',
  EAUTH: 'login',
  ENOAUTH: 'login',
  EENVELOPE: 'refused',
  EMESSAGE: 'refused',
};

/**
 * A mail was not sent. The server's text is not kept, here or as the cause, because it repeats addresses and this error
 * may be logged.
 */
export class MailError extends Error {
  override name = 'MailError';
  readonly failure: MailFailure;
  /** The mail server's reply code, if it sent one. */
  readonly smtpStatus: number | undefined;

  constructor(failure: MailFailure, smtpStatus?: number) {
    super(`the mail was not sent: ${failure}${smtpStatus === undefined ? '' : ` ${smtpStatus}`}`);
    this.failure = failure;
    this.smtpStatus = smtpStatus;
  }
}

/** Codes of OpenSSL and Node for certificates and handshakes, which nodemailer keeps as `originalCode`. */
const TLS_FAULT = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/;

/** Translates an error of nodemailer. */
export function toMailError(error: unknown): MailError {
  const { code, originalCode, responseCode } = error as Record<string, unknown>;
  const smtpStatus = typeof responseCode === 'number' ? responseCode : undefined;
  const known = FAILURES[String(code)] ?? (TLS_FAULT.test(String(originalCode)) ? 'tls' : undefined);
  return new MailError(known ?? (smtpStatus === undefined ? 'connection' : 'refused'), smtpStatus);
}
