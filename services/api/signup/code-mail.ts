import { CODE_SECONDS } from '../../../shared/accounts/rules/credentials.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail, wrapLines } from '../../../shared/mail/plain-mail.ts';
import type { MailPurpose } from '../../../shared/accounts/signups.ts';

export interface CodePurpose {
  name: MailPurpose;
  /** Purposes with the same name share their limits of mails. */
  limits: 'signup' | 'signin';
  subject: string;
  /** What it does at a host, followed by "and is valid for 10 minutes". */
  use: (host: string) => string;
  note?: string;
}

export const SIGN_UP: CodePurpose = {
  name: 'signup',
  limits: 'signup',
  subject: 'Your sign-up code',
  use: (host) => `It completes the sign-up for an account and an API key at ${host},`,
};
export const SIGN_IN: CodePurpose = {
  name: 'signin',
  limits: 'signin',
  subject: 'Your sign-in code',
  use: (host) => `It signs you in so that you can allow an app to use your account at ${host},`,
};
export const DASHBOARD_SIGN_IN: CodePurpose = {
  name: 'dashboard',
  limits: 'signin',
  subject: 'Your sign-in code',
  use: (host) => `It signs you in to the dashboard of your account at ${host},`,
};
/** Two codes, one for each mailbox, must both be entered. */
export const LEAVE_ADDRESS: CodePurpose = {
  name: 'address',
  limits: 'signin',
  subject: 'Your code to change your address',
  use: (host) => `Together with the code mailed to the new address, it changes the address of your account at ${host},`,
  note: 'Anyone who has both codes can take over your account.',
};
export const TAKE_ADDRESS: CodePurpose = {
  name: 'address',
  limits: 'signin',
  subject: 'Your code to confirm your new address',
  use: (host) =>
    `Together with the code mailed to the old address, it makes this the address of an account at ${host},`,
};
/** The mail is the same whether or not the address has an account, since no account is looked up. */
export const RECOVER_KEY: CodePurpose = {
  name: 'recovery',
  limits: 'signup',
  subject: 'Your recovery code',
  use: (host) => `It lets anyone who has it create an API key for the account with this address at ${host},`,
  note: 'If no account has this address, the code has no effect.',
};

const MINUTES = CODE_SECONDS / 60;
const NEVER = 'We will never ask you for it.';

function useOf({ use, note }: CodePurpose, appUrl: string, how = ''): string[] {
  const text = `${use(new URL(appUrl).host)} and is valid for ${MINUTES} minutes${how}.`;
  return wrapLines(note === undefined ? text : `${text} ${note}`);
}

/** It contains no text from the requester, so it cannot be misused to send messages. */
export function codeMail(to: string, code: string, appUrl: string, purpose: CodePurpose): Mail {
  return plainMail(to, purpose.subject, [
    [`Your code is ${code}`],
    useOf(purpose, appUrl),
    wrapLines(`If you did not ask for it, ignore this mail: nothing happens without the code. ${NEVER}`),
  ]);
}

export function linkMail(to: string, link: string, appUrl: string, purpose: CodePurpose): Mail {
  return plainMail(to, purpose.subject.replace(/code$/, 'link'), [
    ['Open this link and press the button on its page:'],
    [link],
    useOf(purpose, appUrl, ', once, in the browser that opened it'),
    wrapLines(
      'Too many wrong codes were entered for your address recently, so this mail contains a link instead of a code.',
    ),
    wrapLines(
      `If you did not ask for it, ignore this mail and do not press the button: nothing happens without it. ${NEVER}`,
    ),
  ]);
}

export function wrongCodesMail(to: string, appUrl: string): Mail {
  const { host } = new URL(appUrl);
  return plainMail(to, 'Wrong codes were entered for your address', [
    wrapLines(
      `Someone entered several wrong codes to sign up, to sign in or to get a key at ${host} with your address.`,
    ),
    wrapLines(
      'None of them was right. For now, codes are no longer accepted for your address: a link is mailed instead.',
    ),
    wrapLines(
      'If this was you, ask again and use the link. If it was not, you do not need to do anything. Never share a code or a link.',
    ),
  ]);
}
