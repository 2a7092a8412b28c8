import type { AddressInfo } from 'node:net';
import { domainToASCII } from 'node:url';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerOptions } from 'smtp-server';
import { readMail } from './smtp-mail.ts';
import type { ReadMail } from './smtp-mail.ts';

export interface ReceivedMail extends ReadMail {
  sender: string;
  /** As the RCPT TO commands named them. */
  recipients: string[];
}

export interface SmtpReceiver {
  /** smtp://127.0.0.1:port */
  url: string;
  received: ReceivedMail[];
  /** The only mail to an address, or the newest. */
  mailTo(address: string): ReceivedMail;
  stop(): Promise<void>;
}

/** A real SMTP server on loopback that takes every mail, unless its options say otherwise. */
export async function startSmtpReceiver(options: SMTPServerOptions = {}): Promise<SmtpReceiver> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        received.push({
          ...readMail(Buffer.concat(chunks).toString('latin1')),
          sender: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          // The server shows domains in Unicode.
          recipients: envelope.rcptTo.map(({ address }) => inAscii(address)),
        });
        done();
      });
    },
    ...options,
  });
  // Clients that give up are part of these tests.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received,
    mailTo(address) {
      const mail = received.findLast(({ recipients }) => recipients.includes(address));
      if (!mail) throw new Error(`no mail came for ${address}`);
      return mail;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function inAscii(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`;
}

/** A reply of an SMTP server that refuses. */
export function smtpRefusal(status: number, words: string): Error {
  return Object.assign(new Error(words), { responseCode: status });
}
