import { ApiError } from '../http/api-error.ts';
import type { ErrorCode } from '../../../shared/domain/error-codes.ts';
import type { CodeVerdict } from './judge-code.ts';

/** The words and codes of the routes of one purpose. */
export interface CodeRoutes {
  /** The name of the token's field, and the error code when it is not valid. */
  tokenField: string;
  tokenError: ErrorCode;
  /** The route that mails another code. */
  startOver: string;
}

export const SIGNUP_ROUTES: CodeRoutes = {
  tokenField: 'signup_token',
  tokenError: 'invalid_signup_token',
  startOver: 'POST /api/agent/signup',
};
export const RECOVERY_ROUTES: CodeRoutes = {
  tokenField: 'recovery_token',
  tokenError: 'invalid_recovery_token',
  startOver: 'POST /api/agent/recover',
};

/** The answer to a code that was not right. */
export function codeError(verdict: Exclude<CodeVerdict, { outcome: 'right' }>, routes: CodeRoutes): ApiError {
  const startOver = `Start over with ${routes.startOver}.`;
  switch (verdict.outcome) {
    case 'unknown':
      return new ApiError(routes.tokenError, `${routes.tokenField}: is wrong, used or too old. ${startOver}`);
    case 'expired':
      return new ApiError('code_expired', `code: is older than 10 minutes. ${startOver}`);
    case 'exhausted':
      return new ApiError('too_many_attempts', `code: was wrong three times. ${startOver}`);
    case 'tries used up':
      return new ApiError(
        'too_many_attempts',
        `code: too many wrong codes were tried for this mailbox. ${routes.startOver} mails a link instead, which the person opens.`,
      );
    case 'wrong':
      return new ApiError('invalid_code', `code: wrong code, ${triesLeftText(verdict.triesLeft, startOver)}`);
  }
}

function triesLeftText(triesLeft: number, startOver: string): string {
  if (triesLeft === 0) return `no tries left. ${startOver}`;
  return triesLeft === 1 ? '1 try left.' : `${triesLeft} tries left.`;
}
