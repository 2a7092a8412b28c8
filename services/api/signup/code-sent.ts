import type { CodeSent, RecoverySent } from '../../../schemas/api/signup.ts';
import { CODE_SECONDS } from '../../../shared/domain/accounts/mailed-tokens.ts';

const LINK_INSTEAD = 'A mail that holds a link instead is for the person alone: its page shows them the key.';

/** The answer of POST /api/agent/signup. */
export function codeSent(token: string, appUrl: string): CodeSent {
  return {
    status: 'code_sent',
    signup_token: token,
    expires_in: CODE_SECONDS,
    next: nextStep('signup_token', `${appUrl}/api/agent/verify`),
  };
}

/** The answer of POST /api/agent/recover. */
export function recoverySent(token: string, appUrl: string): RecoverySent {
  return {
    status: 'code_sent',
    recovery_token: token,
    expires_in: CODE_SECONDS,
    next: nextStep('recovery_token', `${appUrl}/api/agent/recover/verify`),
  };
}

function nextStep(tokenField: string, url: string): string {
  return `Ask for the 6-digit code that was mailed to the address, and send it with ${tokenField} to POST ${url} within ${CODE_SECONDS / 60} minutes. ${LINK_INSTEAD}`;
}
