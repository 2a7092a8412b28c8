import { MailError } from '../../../shared/mail/mailer.ts';
import type { Mail, Mailer } from '../../../shared/mail/mailer.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

/** Nobody should wait longer for an answer because a mail server is slow: the answer may hold a key, shown once. */
const WAIT_MS = 3_000;

/** Call it after the commit. A notice that cannot be sent is logged, not retried. @param about what, for the log */
export async function sendNotice(deps: { mailer: Mailer; logger: Logger }, mail: Mail, about: string): Promise<void> {
  const ended = new AbortController();
  const sending = mailAndLog(deps, mail, about).finally(() => ended.abort());
  await Promise.race([sending, delay(WAIT_MS, ended.signal)]);
}

async function mailAndLog(
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
