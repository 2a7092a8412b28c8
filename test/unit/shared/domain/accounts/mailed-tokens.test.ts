import { expect, test } from 'vitest';
import { isLinkToken, newLinkToken, newSignupToken } from '../../../../../shared/domain/accounts/mailed-tokens.ts';

test('tokens have 160 random bits and never repeat', () => {
  const tokens = Array.from({ length: 1_000 }, newSignupToken);
  expect(new Set(tokens).size).toBe(1_000);
  for (const token of tokens) expect(token).toMatch(/^sgn_[0-9a-hjkmnp-tv-z]{32}$/);
});

test('links have 130 random bits, and nothing else is taken for one', () => {
  const links = Array.from({ length: 1_000 }, newLinkToken);
  expect(new Set(links).size).toBe(1_000);
  for (const link of links) expect(isLinkToken(link)).toBe(true);
  for (const other of ['', 'lnk_', links[0]!.slice(1), `${links[0]!}0`, links[0]!.toUpperCase(), newSignupToken()]) {
    expect(isLinkToken(other)).toBe(false);
  }
});
