import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';

const CODE_DIGITS = 6;

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
