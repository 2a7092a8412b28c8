import type { Mail } from '../../../shared/mail/mailer.ts';
import { CODE_SECONDS } from './signup-secrets.ts';

/** The mail with a code. It holds nothing that whoever asked for it chose: nobody can send words of theirs through it. */
export function codeMail(to: string, code: string, appUrl: string): Mail {
  const { host } = new URL(appUrl);
  const minutes = CODE_SECONDS / 60;
  return {
    to,
    subject: 'Your sign-up code',
    text: [
      `Your code is ${code}`,
      '',
      'It completes the sign-up for an account and an API key at',
      `${host}, and is valid for ${minutes} minutes.`,
      '',
      'If it was not you who asked for it, ignore this mail: without the code',
      'nothing happens. Nobody of ours will ever ask you for it.',
      '',
    ].join('\n'),
    html: [
      `<p>Your code is <strong>${code}</strong></p>`,
      '<p>It completes the sign-up for an account and an API key at',
      `${host}, and is valid for ${minutes} minutes.</p>`,
      '<p>If it was not you who asked for it, ignore this mail: without the code',
      'nothing happens. Nobody of ours will ever ask you for it.</p>',
      '',
    ].join('\n'),
  };
}
