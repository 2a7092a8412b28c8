import { expect, test } from 'vitest';
import { apiKeyId, hashApiKey, isApiKey, newApiKey } from '../../../../../shared/domain/accounts/api-key.ts';

test('a key names its id, and only the whole key has its hash', () => {
  const { id, key, hash } = newApiKey();
  expect(key).toMatch(/^fk_[0-9a-z]{40}$/);
  expect(apiKeyId(key)).toBe(id);
  expect(isApiKey(key, hash)).toBe(true);
  expect(isApiKey(newApiKey().key, hash)).toBe(false);
  expect(isApiKey(key, hash.subarray(1))).toBe(false);
  expect(hashApiKey(key)).toHaveLength(32);
});

test.each(['', 'fk_', 'fk_short', 'Bearer x', `fk_${'0'.repeat(39)}`, `fk_${'0'.repeat(41)}`, `fk_${'U'.repeat(40)}`])(
  '%j is not a key',
  (text) => {
    expect(apiKeyId(text)).toBeUndefined();
  },
);
