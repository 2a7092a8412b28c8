import type { Mailer } from './mailer.ts';
import { createOutboxMailer } from './outbox-mailer.ts';
import { createSmtpMailer } from './smtp-mailer.ts';
import type { SmtpTimeouts } from './smtp-mailer.ts';

export interface MailerOptions {
  /** smtp:// or smtps://, with nodemailer's options in the query; undefined: mails go to the outbox. */
  smtpUrl: string | undefined;
  /** Address, or name and address, of the sender. */
  from: string;
  /** Folder for mails that are not sent. */
  outbox: string;
  timeouts?: SmtpTimeouts;
}

export function createMailer({ smtpUrl, from, outbox, timeouts }: MailerOptions): Mailer {
  if (smtpUrl === undefined) return createOutboxMailer(outbox, from);
  return createSmtpMailer(smtpUrl, from, timeouts);
}
