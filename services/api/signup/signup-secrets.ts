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
 * try all million codes in a second. A code that was mailed under a key before is known, too.
 */
export function createCodeHashes(secretKey: string, previousKeys: readonly string[] = []): CodeHashes {
  const [key, ...others] = [secretKey, ...previousKeys].map((one) =>
    Buffer.from(hkdfSync('sha256', one, '', 'forum-monitor sign-up codes v1', 32)),
  );
  const hashWith = (by: Buffer, tokenHash: Uint8Array, code: string) =>
    createHmac('sha256', by).update(tokenHash).update(code).digest();
  return {
    hash: (tokenHash, code) => hashWith(key!, tokenHash, code),
    isCode: (codeHash, tokenHash, code) =>
      [key!, ...others].some((by) => {
        const given = hashWith(by, tokenHash, code);
        return codeHash.length === given.length && timingSafeEqual(given, codeHash);
      }),
  };
}
