import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  apiKeyId,
  grantHashStart,
  grantPublicId,
  hashApiKey,
  hashOAuthId,
  isAccessToken,
  isApiKey,
  newApiKey,
  newOAuthSecret,
} from '../../../../../shared/accounts/rules/credentials.ts';

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

test.each([
  ['access token', 'oat', true],
  ['refresh token', 'ort', false],
  ['code', 'oac', false],
  ['client', 'ocl', false],
  ['client secret', 'ocs', false],
] as const)('a new %s begins with %s and has 260 random bits', (kind, prefix, isToken) => {
  const secrets = Array.from({ length: 1_000 }, () => newOAuthSecret(kind));
  expect(new Set(secrets).size).toBe(1_000);
  for (const secret of secrets) {
    expect(secret).toMatch(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{52}$`));
    expect(isAccessToken(secret)).toBe(isToken);
  }
});

test('a text that only contains an access token is not an access token', () => {
  const token = newOAuthSecret('access token');
  for (const text of [` ${token}`, `${token}\n`, `${token}0`, token.slice(0, -1), token.toUpperCase()]) {
    expect(isAccessToken(text), text).toBe(false);
  }
});

test('the public id of a grant leads to the first 96 bits of its hash', () => {
  const hash = hashOAuthId('a grant');
  expect(hash).toEqual(createHash('sha256').update('a grant').digest());
  expect(grantPublicId(hash)).toBe(`gra_${hash.toString('hex').slice(0, 24)}`);
  expect(grantHashStart(grantPublicId(hash))).toEqual(hash.subarray(0, 12));
});
