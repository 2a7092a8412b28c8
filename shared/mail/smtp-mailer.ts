import { createTransport } from 'nodemailer';
import { toMailError } from './mail-error.ts';
import type { Mailer } from './mailer.ts';
import { toMessage } from './message.ts';

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

/** A person waits for the answer. */
const TIMEOUTS: SmtpTimeouts = { connect: 5_000, greeting: 5_000, silence: 10_000, total: 15_000 };
/** Time for an orderly close of the connection. */
const CLOSE_MS = 1_000;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Sends each mail over its own connection, which is closed in every case, so that no mail waits behind one that hangs.
 * When the URL has a password and the server is not on this machine, the connection must be encrypted. Otherwise it is
 * encrypted when the server offers it.
 */
export function createSmtpMailer(url: string, from: string, timeouts: SmtpTimeouts = TIMEOUTS): Mailer {
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

/** Whether the connection to an smtp:// URL must be encrypted. */
export function requiresTls({ username, hostname, searchParams }: URL): boolean {
  const asked = searchParams.get('requireTLS');
  return asked === null ? username !== '' && !LOOPBACK.test(hostname) : asked === 'true';
}
