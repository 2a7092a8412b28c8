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
 * A mail was not sent. What a mail server says repeats addresses, so its words are not kept, here or as the cause: this
 * may be logged.
 */
export class MailError extends Error {
  override name = 'MailError';
  readonly failure: MailFailure;
  /** The mail server's reply code, where it gave one. */
  readonly smtpStatus: number | undefined;

  constructor(failure: MailFailure, smtpStatus?: number) {
    super(`a mail could not be sent: ${failure}${smtpStatus === undefined ? '' : ` ${smtpStatus}`}`);
    this.failure = failure;
    this.smtpStatus = smtpStatus;
  }
}

/** Codes of OpenSSL and Node about certificates and handshakes, which nodemailer keeps as the original ones. */
const TLS_FAULT = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/;

/** What nodemailer's error stands for. */
export function smtpFailure(error: unknown): MailError {
  const { code, originalCode, responseCode } = error as Record<string, unknown>;
  const smtpStatus = typeof responseCode === 'number' ? responseCode : undefined;
  const known = FAILURES[String(code)] ?? (TLS_FAULT.test(String(originalCode)) ? 'tls' : undefined);
  return new MailError(known ?? (smtpStatus === undefined ? 'connection' : 'refused'), smtpStatus);
}
