import type { Mail } from '../../../shared/mail/mailer.ts';
import { CODE_SECONDS } from './signup-secrets.ts';

/** What a code is for, in the mail's words. */
export interface CodePurpose {
  /** In front of the names of its limits. */
  name: 'signup' | 'signin';
  subject: string;
  /** Two lines, before "and is valid for 10 minutes". */
  use: (host: string) => readonly [string, string];
}

export const SIGN_UP: CodePurpose = {
  name: 'signup',
  subject: 'Your sign-up code',
  use: (host) => ['It completes the sign-up for an account and an API key at', `${host},`],
};
export const SIGN_IN: CodePurpose = {
  name: 'signin',
  subject: 'Your sign-in code',
  use: (host) => ['It signs you in on the page that asks whether a program may use', `your account at ${host},`],
};

/** The mail with a code. It holds nothing that whoever asked for it chose: nobody can send words of theirs through it. */
export function codeMail(to: string, code: string, appUrl: string, purpose: CodePurpose): Mail {
  const { host } = new URL(appUrl);
  const minutes = CODE_SECONDS / 60;
  const [what, where] = purpose.use(host);
  return {
    to,
    subject: purpose.subject,
    text: [
      `Your code is ${code}`,
      '',
      what,
      `${where} and is valid for ${minutes} minutes.`,
      '',
      'If it was not you who asked for it, ignore this mail: without the code',
      'nothing happens. Nobody of ours will ever ask you for it.',
      '',
    ].join('\n'),
    html: [
      `<p>Your code is <strong>${code}</strong></p>`,
      `<p>${what}`,
      `${where} and is valid for ${minutes} minutes.</p>`,
      '<p>If it was not you who asked for it, ignore this mail: without the code',
      'nothing happens. Nobody of ours will ever ask you for it.</p>',
      '',
    ].join('\n'),
  };
}
