import { createTransport } from 'nodemailer';
import { smtpFailure } from './mail-error.ts';
import type { Mailer } from './mailer.ts';
import { messageOf } from './message.ts';

/** Milliseconds. */
export interface SmtpTimeouts {
  /** Looking the server up and connecting. */
  connect: number;
  /** Between connecting and the server's first word. */
  greeting: number;
  /** Without a byte from the server. */
  silence: number;
  /** Everything together, however busy the server looks. */
  total: number;
}

/** A person waits for the answer. */
const TIMEOUTS: SmtpTimeouts = { connect: 5_000, greeting: 5_000, silence: 10_000, total: 15_000 };
/** What a connection gets to close in order. */
const CLOSE_MS = 1_000;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Sends each mail over a connection of its own, which is closed whatever happens: nothing waits behind a mail that
 * hangs. Where the URL has a password, and the server is not on this machine, the connection must be encrypted;
 * otherwise it is when the server offers it.
 */
export function createSmtpMailer(url: string, from: string, timeouts: SmtpTimeouts = TIMEOUTS): Mailer {
  const { username, hostname } = new URL(url);
  const transport = createTransport({
    url,
    requireTLS: username !== '' && !LOOPBACK.test(hostname),
    connectionTimeout: timeouts.connect,
    dnsTimeout: timeouts.connect,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.silence,
    socketCloseTimeout: CLOSE_MS,
  });
  return {
    async send(mail) {
      try {
        await transport.sendMail({ ...messageOf(from, mail), signal: AbortSignal.timeout(timeouts.total) });
      } catch (error) {
        throw smtpFailure(error);
      }
    },
  };
}
