import { wrongCodesMail } from './code-mail.ts';
import { sendNotice } from '../notices/send-notice.ts';
import type { SignupDeps } from './signup-deps.ts';

/**
 * Notifies the owner of a mailbox that its tries are used up by wrong codes. Call it after the commit that counted the
 * last one. The next mail, with a link, says the same.
 */
export async function notifyOfWrongCodes(
  deps: Pick<SignupDeps, 'mailer' | 'appUrl' | 'logger'>,
  verdict: { outcome: string; lastTryOf?: string },
): Promise<void> {
  if (verdict.lastTryOf === undefined) return;
  await sendNotice(deps, wrongCodesMail(verdict.lastTryOf, deps.appUrl), 'wrong codes were tried for a mailbox');
}
