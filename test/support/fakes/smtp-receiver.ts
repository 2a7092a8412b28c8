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
  /** The newest mail to an address. */
  mailTo(address: string): ReceivedMail;
  stop(): Promise<void>;
}

/** A real SMTP server on loopback that accepts every mail unless its options say otherwise. */
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
          // The server returns domains in Unicode.
          recipients: envelope.rcptTo.map(({ address }) => inAscii(address)),
        });
        done();
      });
    },
    ...options,
  });
  // Some tests have clients that give up.
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
  const separator = address.lastIndexOf('@');
  return `${address.slice(0, separator)}@${domainToASCII(address.slice(separator + 1))}`;
}

/** A rejection by an SMTP server. */
export function smtpRefusal(status: number, words: string): Error {
  return Object.assign(new Error(words), { responseCode: status });
}
