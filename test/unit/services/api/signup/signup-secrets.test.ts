import { createHmac, hkdfSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createMailboxHash } from '../../../../../shared/domain/accounts/mailbox-hash.ts';
import { networksOf } from '../../../../../services/api/signup/client-network.ts';
import { codeMail, SIGN_UP } from '../../../../../services/api/signup/code-mail.ts';
import {
  createCodeHashes,
  hashMailedToken,
  newCode,
  newSignupToken,
} from '../../../../../services/api/signup/signup-secrets.ts';

const SECRET_KEY = 'a secret key for tests, 32 characters';

describe('tokens and codes', () => {
  test('tokens have 160 random bits and never repeat', () => {
    const tokens = Array.from({ length: 1_000 }, newSignupToken);
    expect(new Set(tokens).size).toBe(1_000);
    for (const token of tokens) expect(token).toMatch(/^sgn_[0-9a-hjkmnp-tv-z]{32}$/);
  });

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

  test('each kind of hash has its own key', () => {
    const token = hashMailedToken('sgn_a');
    const derived = (label: string) => Buffer.from(hkdfSync('sha256', SECRET_KEY, '', label, 32));
    const hmac = (key: Buffer, ...parts: (Buffer | string)[]) =>
      parts.reduce((made, part) => made.update(part), createHmac('sha256', key)).digest();
    expect(createCodeHashes(SECRET_KEY).hash(token, '123456')).toEqual(
      hmac(derived('forum-monitor sign-up codes v1'), token, '123456'),
    );
    // Changing this would give every mailbox its free credits again.
    expect(createMailboxHash(SECRET_KEY)('a@example.com')).toEqual(
      hmac(derived('forum-monitor mailboxes v1'), 'a@example.com'),
    );
  });
});

describe('the network of a client', () => {
  test.each([
    ['192.0.2.1', '192.0.2.0/24'],
    ['192.0.2.255', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.0/24'],
    ['::ffff:c000:24d', '192.0.2.0/24'],
    ['2001:db8:1:234:3:4:5:6', '2001:db8:1:234::/64', '2001:db8:1:200::/56', '2001:db8:1::/48'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64', '2001:db8:1::/56', '2001:db8:1::/48'],
    ['::1', '::/64', '::/56', '::/48'],
    ['fe80::1%eth0', 'fe80::/64', 'fe80::/56', 'fe80::/48'],
    ['unknown', 'unknown'],
    ['', 'unknown'],
    ["x' OR 1=1", 'unknown'],
    [undefined, 'unknown'],
  ])('%s is in %s', (address, ...networks) => {
    expect(networksOf(address).map(({ network }) => network)).toEqual(networks);
  });

  test('a larger network gets more, but far less than all that it contains', () => {
    expect(networksOf('2001:db8::1').map(({ times }) => times)).toEqual([1, 2, 4]);
    expect(networksOf('192.0.2.1').map(({ times }) => times)).toEqual([1]);
  });
});

test('the mail with a code has only lines that every mail server accepts unchanged', () => {
  const { subject, text, html } = codeMail('ada@example.com', '012345', 'https://app.example.com:8443/x', SIGN_UP);
  expect(subject).toBe('Your sign-up code');
  expect(text).toContain('app.example.com:8443, and');
  for (const line of `${text}\n${html}`.split('\n')) expect(line).toMatch(/^[\x20-\x7e]{0,76}$/);
});
