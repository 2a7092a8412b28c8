import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isEmailAddress, mailboxOf, parseEmailAddress } from '../../../../../shared/accounts/rules/mailbox.ts';

const label = (length: number) => 'x'.repeat(length);

describe('accepted', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    ['Ada.Lovelace@Example.COM', 'Ada.Lovelace@example.com'],
    ["!#$%&'*+/=?^_`{|}~-@example.com", "!#$%&'*+/=?^_`{|}~-@example.com"],
    ['a+b.c@mail.example.co.uk', 'a+b.c@mail.example.co.uk'],
    ['1@2.example', '1@2.example'],
    ['a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
    ['a@bücher.example', 'a@xn--bcher-kva.example'],
    ['a@BÜCHER.Example', 'a@xn--bcher-kva.example'],
    ['a@例え.テスト', 'a@xn--r8jz45g.xn--zckzah'],
    ['a@ｇｍａｉｌ.com', 'a@gmail.com'],
    ['a@b--c.example', 'a@b--c.example'],
    [`${label(64)}@example.com`, `${label(64)}@example.com`],
    [`a@${label(63)}.example`, `a@${label(63)}.example`],
  ])('%s as %s', (text, address) => {
    expect(parseEmailAddress(text)).toEqual({ address, domain: address.slice(address.lastIndexOf('@') + 1) });
  });

  test('254 characters, and not one more', () => {
    const domain = `${label(61)}.${label(61)}.${label(61)}.com`;
    const longest = `${label(254 - domain.length - 1)}@${domain}`;
    expect(longest).toHaveLength(254);
    expect(parseEmailAddress(longest)?.address).toBe(longest);
    expect(parseEmailAddress(`x${longest}`)).toBeUndefined();
    // The ASCII form counts: each of these labels becomes xn--9ca.
    const inUnicode = (labels: number) => `${label(64)}@${'é.'.repeat(labels)}com`;
    expect(parseEmailAddress(inUnicode(23))?.address).toHaveLength(252);
    expect(parseEmailAddress(inUnicode(24))).toBeUndefined();
  });
});

describe('refused', () => {
  test.each([
    '',
    'a',
    '@example.com',
    'a@',
    'a@b',
    'a@localhost',
    'a@b@example.com',
    'a b@example.com',
    'a@example.com\n',
    'a\r\n@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com\0',
    'a,b@example.com',
    'a@example.com,b@example.com',
    'Ada <a@example.com>',
    'a(comment)@example.com',
    '"a"@example.com',
    '"a b"@example.com',
    'a.@example.com',
    'a..b@example.com',
    'а@example.com',
    `${label(65)}@example.com`,
    `a@${label(64)}.example`,
    'a@example.com.',
    'a@example..com',
    'a@a-.example',
    'a@a_b.example',
    'a@example.123',
    'a@127.0.0.1',
    'a@1.2',
    'a@[IPv6:::1]',
    'a@example.com:25',
    'a@example.com/x',
    'a@ex%61mple.com',
    'a@example。com',
    'a@exam\u00adple.com',
    'a@\ud800.com',
    'a@xn--.example',
    'mailto:a@example.com',
  ])('%j', (text) => {
    expect(parseEmailAddress(text)).toBeUndefined();
  });
});

const part = fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ019.-_+!#$%&*=?^`{|}~/é@')), maxLength: 20 });
const nearAddress = fc
  .tuple(part, fc.constantFrom('example.com', 'bücher.example', 'x.co', 'a-b.c-d.org'), part)
  .map(([local, domain, extra]) => `${local}@${extra}${domain}`);

describe('whatever is given', () => {
  test('what is accepted is one plain address, as a strict reading of it says', () => {
    let accepted = 0;
    const texts = fc.oneof(nearAddress, fc.string(), fc.string({ unit: 'binary' }), fc.emailAddress());
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseEmailAddress(text);
        if (!parsed) return;
        accepted++;
        expect(parsed.address).toMatch(/^[\x21-\x7e]+$/);
        expect(parsed.address.split('@')).toHaveLength(2);
        expect(parsed.address).not.toMatch(/[\s,;:<>()[\]\\"]/);
        expect(parsed.address.length).toBeLessThanOrEqual(254);
        expect(parsed.address.split('@')[0]).toBe(text.slice(0, text.lastIndexOf('@')));
        expect(parsed.domain).toBe(domainToASCII(text.slice(text.lastIndexOf('@') + 1)));
        expect(parsed.domain).toMatch(/^[a-z0-9.-]+\.[a-z0-9-]*[a-z][a-z0-9-]*$/);
        // Reading it again changes nothing, and the looser rule takes it too.
        expect(parseEmailAddress(parsed.address)).toEqual(parsed);
        expect(isEmailAddress(parsed.address)).toBe(true);
        expect(mailboxOf(mailboxOf(parsed.address))).toBe(mailboxOf(parsed.address));
      }),
      { numRuns: 5_000 },
    );
    expect(accepted).toBeGreaterThan(200);
  });
});
