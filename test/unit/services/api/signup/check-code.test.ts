import { describe, expect, test } from 'vitest';
import { hashMailedToken } from '../../../../../shared/accounts/rules/credentials.ts';
import { createCodeHashes, newCode } from '../../../../../services/api/signup/check-code.ts';

const SECRET_KEY = 'a secret key for tests, 32 characters';

describe('codes', () => {
  test('codes are six digits with leading zeros, spread over the whole million', () => {
    const codes = Array.from({ length: 20_000 }, newCode);
    for (const code of codes) expect(code).toMatch(/^\d{6}$/);
    // 2,000 in each tenth on average; 1,700 is seven standard deviations away.
    for (const [, of] of Map.groupBy(codes, (code) => code[0])) expect(of.length).toBeGreaterThan(1_700);
    expect(new Set(codes.map((code) => code[0])).size).toBe(10);
  });

  test('a code is right only for its token, its key and itself', () => {
    const hashes = createCodeHashes(SECRET_KEY);
    const [token, other] = [hashMailedToken('sgn_a'), hashMailedToken('sgn_b')];
    const stored = hashes.hash(token, '012345');
    expect(hashes.isCode(stored, token, '012345')).toBe(true);
    expect(hashes.isCode(stored, token, '012346')).toBe(false);
    expect(hashes.isCode(stored, other, '012345')).toBe(false);
    expect(createCodeHashes(`${SECRET_KEY}!`).isCode(stored, token, '012345')).toBe(false);
    expect(hashes.isCode(stored.subarray(1), token, '012345')).toBe(false);
  });

  test('a code that was mailed under the key before is right, and one under another key is not', () => {
    const token = hashMailedToken('sgn_a');
    const hashes = createCodeHashes(`${SECRET_KEY}!`, [SECRET_KEY]);
    expect(hashes.isCode(createCodeHashes(SECRET_KEY).hash(token, '012345'), token, '012345')).toBe(true);
    expect(createCodeHashes(SECRET_KEY).isCode(hashes.hash(token, '012345'), token, '012345')).toBe(false);
  });
});
