import { createHash, createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { randomText } from '../../../shared/domain/identifiers.ts';

/** How long a token and its code are valid. */
export const CODE_SECONDS = 600;

const TOKEN_LENGTH = 32;
const LINK_LENGTH = 26;
const LINK_TOKEN = /^lnk_[0-9a-hjkmnp-tv-z]{26}$/;
const CODE_DIGITS = 6;

/** sgn_ and 160 random bits. */
export function newSignupToken(): string {
  return `sgn_${randomText(TOKEN_LENGTH)}`;
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

/** Six digits; all million codes are equally likely. */
export function newCode(): string {
  return String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
}

/** Keyed hashes of codes, each bound to its token. */
export interface CodeHashes {
  hash(tokenHash: Uint8Array, code: string): Buffer;
  /** Compares in constant time. */
  isCode(codeHash: Uint8Array, tokenHash: Uint8Array, code: string): boolean;
}

/**
 * HMAC-SHA256 with a key derived (HKDF) from the installation's secret key. Without it, whoever has the database could
 * try all million codes in a second.
 */
export function createCodeHashes(secretKey: string): CodeHashes {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'forum-monitor sign-up codes v1', 32));
  const hash = (tokenHash: Uint8Array, code: string) =>
    createHmac('sha256', key).update(tokenHash).update(code).digest();
  return {
    hash,
    isCode(codeHash, tokenHash, code) {
      const given = hash(tokenHash, code);
      return codeHash.length === given.length && timingSafeEqual(given, codeHash);
    },
  };
}
