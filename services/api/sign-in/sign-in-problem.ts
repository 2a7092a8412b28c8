import type { SignInVerdict } from './sign-in.ts';

/** Says why a person is not signed in and what to do, for the page. */
export function signInProblem(verdict: Exclude<SignInVerdict, { outcome: 'signed in' }>): string {
  switch (verdict.outcome) {
    case 'wrong':
      return verdict.triesLeft === 0
        ? 'The code was wrong three times. Ask for another one.'
        : `The code is wrong. Tries left: ${verdict.triesLeft}.`;
    case 'expired':
    case 'exhausted':
    case 'unknown':
      return 'The code is not valid any more. Ask for another one.';
    case 'tries used up':
      return 'Too many wrong codes were tried for this address. Ask again: the mail holds a link instead.';
    case 'frozen':
      return 'This account is closed for now.';
    case 'other spelling':
      return 'The account of this mailbox was opened with another spelling of the address. Sign in with that one.';
    case 'no account':
      return 'There is no account with this address, and none can be opened now.';
  }
}
