import { MailError } from '../../../shared/mail/mail-error.ts';
import { wrongCodesMail } from './code-mail.ts';
import type { SignupDeps } from './signup-deps.ts';

/**
 * Notifies the owner of a mailbox that its tries are used up by wrong codes. Call it after the commit that counted the
 * last one. A mail that cannot be sent is not retried: the next mail, with a link, says the same.
 */
export async function notifyOfWrongCodes(
  { mailer, appUrl, logger }: Pick<SignupDeps, 'mailer' | 'appUrl' | 'logger'>,
  verdict: { outcome: string; lastTryOf?: string },
): Promise<void> {
  if (verdict.lastTryOf === undefined) return;
  try {
    await mailer.send(wrongCodesMail(verdict.lastTryOf, appUrl));
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    logger.warn(
      { failure: error.failure, smtpStatus: error.smtpStatus },
      'could not notify the owner of a mailbox about wrong codes',
    );
  }
}
