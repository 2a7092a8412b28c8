import { createHash } from 'node:crypto';
import { idFormat } from '../../rules/identifiers.ts';

/** How long a token, its code and a mailed link are valid, in seconds. */
export const CODE_SECONDS = 600;

/** The token that goes with a code: 160 random bits. A text of another form needs no look-up. */
export const { create: newSignupToken, test: isSignupToken } = idFormat('sgn', 32);

/** The token of a link in a mail: 130 random bits. */
export const { create: newLinkToken, test: isLinkToken } = idFormat('lnk', 26);

/** SHA-256: the token is random, so a slow or keyed hash would protect nothing more. */
export function hashMailedToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
