import { createHash } from 'node:crypto';
import { randomText } from '../identifiers.ts';

/** How long a token, its code and a mailed link are valid, in seconds. */
export const CODE_SECONDS = 600;

const TOKEN_LENGTH = 32;
const LINK_LENGTH = 26;
const SIGNUP_TOKEN = /^sgn_[0-9a-hjkmnp-tv-z]{32}$/;
const LINK_TOKEN = /^lnk_[0-9a-hjkmnp-tv-z]{26}$/;

/** sgn_ and 160 random bits. */
export function newSignupToken(): string {
  return `sgn_${randomText(TOKEN_LENGTH)}`;
}

/** Whether a text has the form of a token that goes with a code: others need no look-up. */
export function isSignupToken(text: string): boolean {
  return SIGNUP_TOKEN.test(text);
}

/** The token of a link in a mail: lnk_ and 130 random bits. */
export function newLinkToken(): string {
  return `lnk_${randomText(LINK_LENGTH)}`;
}

export function isLinkToken(text: string): boolean {
  return LINK_TOKEN.test(text);
}

/** SHA-256: the token is random, so a slow or keyed hash would protect nothing more. */
export function hashMailedToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
