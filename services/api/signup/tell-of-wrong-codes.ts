import { MailError } from '../../../shared/mail/mail-error.ts';
import { wrongCodesMail } from './code-mail.ts';
import type { SignupDeps } from './signup-deps.ts';

/**
 * Tells the owner of a mailbox, once its tries are used up, that wrong codes were tried. To be called after the commit
 * that counted the last one. A mail that cannot be sent changes nothing: the next one, with a link, says it too.
 */
export async function tellOfWrongCodes(
  { mailer, appUrl, logger }: Pick<SignupDeps, 'mailer' | 'appUrl' | 'logger'>,
  verdict: { outcome: string; lastTryOf?: string },
): Promise<void> {
  if (verdict.lastTryOf === undefined) return;
  try {
    await mailer.send(wrongCodesMail(verdict.lastTryOf, appUrl));
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    logger.warn({ failure: error.failure, smtpStatus: error.smtpStatus }, 'an owner could not be told of wrong codes');
  }
}
