import { mailTime } from '../../../shared/mail/mail-time.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail, wrapLines } from '../../../shared/mail/plain-mail.ts';
import { quotedName } from '../../../shared/mail/quoted-name.ts';

export interface NewProgram {
  /** As the program calls itself; undefined when it gave no name. */
  name: string | undefined;
  /** Where it sends its users back to. */
  host: string;
  /** What it may do, in words. */
  permissions: readonly string[];
  at: Date;
}

/** Tells the owner of an account that a program was allowed to use it. Cannot be switched off. */
export function newProgramMail(to: string, program: NewProgram, dashboardUrl: string): Mail {
  const name =
    program.name === undefined ? 'A program without a name' : `A program that calls itself ${quotedName(program.name)}`;
  return plainMail(to, 'A program was connected to your account', [
    wrapLines(
      `${name}, of ${quotedName(program.host)}, was allowed to use your account at ${new URL(dashboardUrl).host} at ${mailTime(program.at)}, by somebody who entered a code that was mailed to you. It may:`,
    ),
    program.permissions.map((words) => `- ${words}`),
    ['If it was not you, somebody else reads your mail: secure your mailbox, and', 'disconnect the program here:'],
    [`${dashboardUrl}/dashboard/programs`],
  ]);
}
