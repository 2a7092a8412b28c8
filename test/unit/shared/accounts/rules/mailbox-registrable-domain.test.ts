import { describe, expect, test } from 'vitest';
import { parseEmailAddress, registrableDomain } from '../../../../../shared/accounts/rules/mailbox.ts';

describe('the domain that somebody registered', () => {
  test.each([
    ['example.com', 'example.com'],
    ['a.b.c.example.com', 'example.com'],
    ['a.example.co.uk', 'example.co.uk'],
    // Names that anybody gets for nothing: they belong together.
    ['a.github.io', 'github.io'],
    ['a.duckdns.org', 'duckdns.org'],
    // Wildcards and their exceptions.
    ['a.b.example.ck', 'b.example.ck'],
    ['a.www.ck', 'www.ck'],
    // Public suffixes themselves.
    ['co.uk', 'co.uk'],
    // Suffixes that no list knows.
    ['a.b.example', 'b.example'],
    // Names beyond ASCII, as addresses hold them.
    ['a.xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['a.xn--85x722f.xn--55qx5d.cn', 'xn--85x722f.xn--55qx5d.cn'],
  ])('%s is of %s', (domain, registered) => {
    expect(registrableDomain(domain)).toBe(registered);
  });

  test.each([
    ['ada@A.Example.CO.UK', 'example.co.uk'],
    ['ada@a.x.公司.cn', 'x.xn--55qx5d.cn'],
    ['ada@a.Bücher.example', 'xn--bcher-kva.example'],
    ['ada@a．example．com', undefined],
  ])('of the address %s it is %s', (address, registered) => {
    const parsed = parseEmailAddress(address);
    expect(parsed && registrableDomain(parsed.domain)).toBe(registered);
  });
});
