import { MailError } from '../../../shared/mail/mail-error.ts';
import type { Mail, Mailer } from '../../../shared/mail/mailer.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

/**
 * Mails a notice of something that is done already. Call it after the commit. A notice that cannot be sent is logged
 * and not retried: what was done stays done.
 *
 * @param about for the log: what the notice is about
 */
export async function sendNotice(
  { mailer, logger }: { mailer: Mailer; logger: Logger },
  mail: Mail,
  about: string,
): Promise<void> {
  try {
    await mailer.send(mail);
  } catch (error) {
    if (error instanceof MailError) {
      logger.warn({ failure: error.failure, smtpStatus: error.smtpStatus }, `could not mail a notice: ${about}`);
    } else logger.error({ err: error }, `could not mail a notice: ${about}`);
  }
}
