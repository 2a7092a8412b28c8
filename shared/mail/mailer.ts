import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { systemClock } from '../runtime/clock.ts';

/** A mail to one recipient. */
export interface Mail {
  /** An address as parseEmailAddress returns it. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The page on which the recipient ends mails of this kind, for the button of mail programs. */
  unsubscribeUrl?: string;
  /** A POST to that page ends them by itself, without a session (RFC 8058). */
  isOneClick?: boolean;
}

export interface Mailer {
  /**
   * Resolves when the mail server accepted the mail, or the mail is in the outbox.
   *
   * @throws MailError when the mail was not accepted, or not in time; in the latter case it may still be delivered
   */
  send(mail: Mail): Promise<void>;
}

/** Milliseconds. */
export interface SmtpTimeouts {
  /** Resolving and connecting. */
  connect: number;
  /** From the connection to the server's greeting. */
  greeting: number;
  /** Time without a byte from the server. */
  silence: number;
  /** Everything together, however active the server looks. */
  total: number;
}

export interface MailerOptions {
  /** smtp:// or smtps://, with nodemailer's options in the query; undefined: mails go to the outbox. */
  smtpUrl: string | undefined;
  /** Address, or name and address, of the sender. */
  from: string;
  /** Folder for mails that are not sent. */
  outbox: string;
  timeouts?: SmtpTimeouts;
}

/** A person waits for the answer. */
const TIMEOUTS: SmtpTimeouts = { connect: 5_000, greeting: 5_000, silence: 10_000, total: 15_000 };

export function createMailer({ smtpUrl, from, outbox, timeouts = TIMEOUTS }: MailerOptions): Mailer {
  return smtpUrl === undefined ? createOutboxMailer(outbox, from) : createSmtpMailer(smtpUrl, from, timeouts);
}

/**
 * Converts a mail for nodemailer. The recipient is passed in parts, so that no part of it is parsed as a name or a
 * list.
 */
function toMessage(from: string, { to, unsubscribeUrl, isOneClick, ...content }: Mail) {
  return {
    ...content,
    from,
    to: { name: '', address: to },
    // RFC 3834: asks receivers not to reply automatically.
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== undefined && { 'List-Unsubscribe': `<${unsubscribeUrl}>` }),
      ...(isOneClick === true && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Time for an orderly close of the connection. */
const CLOSE_MS = 1_000;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Sends each mail over its own connection, which is closed in every case, so that no mail waits behind one that hangs.
 * When the URL has a password and the server is not on this machine, the connection must be encrypted. Otherwise it is
 * encrypted when the server offers it.
 */
function createSmtpMailer(url: string, from: string, timeouts: SmtpTimeouts): Mailer {
  const transport = createTransport({
    url,
    requireTLS: requiresTls(new URL(url)),
    connectionTimeout: timeouts.connect,
    dnsTimeout: timeouts.connect,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.silence,
    socketCloseTimeout: CLOSE_MS,
  });
  return {
    async send(mail) {
      try {
        await transport.sendMail({ ...toMessage(from, mail), signal: AbortSignal.timeout(timeouts.total) });
      } catch (error) {
        throw toMailError(error);
      }
    },
  };
}

export function requiresTls({ username, hostname, searchParams }: URL): boolean {
  const asked = searchParams.get('requireTLS');
  return asked === null ? username !== '' && !LOOPBACK.test(hostname) : asked === 'true';
}

/** How long a mail is kept: longer than what it holds is valid, no longer than matches. */
const KEPT_MS = 30 * 86_400_000;
const TIDY_EVERY_MS = 3_600_000;

/**
 * Writes mails to files, `<time>-<random>.eml`, sorted by time, for installations without a mail server. Only their
 * owner may read them, because they contain codes. A file appears complete or not at all. Files older than 30 days are
 * deleted when another mail is written.
 */
function createOutboxMailer(folder: string, from: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  let tidyAt = Number.NEGATIVE_INFINITY;
  return {
    async send(mail) {
      try {
        const { message } = await transport.sendMail(toMessage(from, mail));
        await writeMailFile(folder, message as Buffer);
      } catch {
        throw new MailError('outbox');
      }
      if (performance.now() < tidyAt) return;
      tidyAt = performance.now() + TIDY_EVERY_MS;
      // Without rights, or beside another process that does the same: a later mail tries again.
      await removeOld(folder).catch(() => undefined);
    },
  };
}

const timeInName = (ms: number) => new Date(ms).toISOString().replaceAll(':', '-');

async function writeMailFile(folder: string, message: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // An existing folder may be readable by others.
  await chmod(folder, 0o700);
  const name = `${timeInName(systemClock())}-${randomBytes(6).toString('hex')}`;
  const draft = join(folder, `.${name}.draft`);
  try {
    await writeFile(draft, message, { mode: 0o600, flag: 'wx' });
    await rename(draft, join(folder, `${name}.eml`));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function removeOld(folder: string): Promise<void> {
  const oldest = timeInName(systemClock() - KEPT_MS);
  for (const name of await readdir(folder)) {
    if (/^[\d.T-]{23}Z-[0-9a-f]{12}\.eml$/.test(name) && name < oldest) await rm(join(folder, name), { force: true });
  }
}

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
  /** The recipient's mailbox takes no mail, now or later. */
  readonly isBounce: boolean;

  constructor(failure: MailFailure, smtpStatus?: number, isBounce = false) {
    super(`the mail was not sent: ${failure}${smtpStatus === undefined ? '' : ` ${smtpStatus}`}`);
    this.failure = failure;
    this.smtpStatus = smtpStatus;
    this.isBounce = isBounce;
  }
}

/** Codes of OpenSSL and Node for certificates and handshakes, which nodemailer keeps as `originalCode`. */
const TLS_FAULT = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/;

/** Replies to RCPT TO about the mailbox. 554 and 5.7.x are about the sender: a relay that refuses it, for instance. */
const NO_MAILBOX = /^55[0-3](?![ -]5\.7\.)/;

function toMailError(error: unknown): MailError {
  const { code, originalCode, responseCode, command, response } = error as Record<string, unknown>;
  const smtpStatus = typeof responseCode === 'number' ? responseCode : undefined;
  const known = FAILURES[String(code)] ?? (TLS_FAULT.test(String(originalCode)) ? 'tls' : undefined);
  const isBounce = command === 'RCPT TO' && NO_MAILBOX.test(String(response));
  return new MailError(known ?? (smtpStatus === undefined ? 'connection' : 'refused'), smtpStatus, isBounce);
}
