import { describe, expect, test } from 'vitest';
import { checkPublicUrl, isPublicAddress } from '../../../../shared/http/public-address.ts';

const REFUSED: [range: string, address: string][] = [
  ['0.0.0.0/8 this network', '0.0.0.0'],
  ['0.0.0.0/8 this network, inside', '0.1.2.3'],
  ['10.0.0.0/8 private', '10.1.2.3'],
  ['100.64.0.0/10 carrier-grade NAT, first', '100.64.0.1'],
  ['100.64.0.0/10 carrier-grade NAT, last', '100.127.255.254'],
  ['127.0.0.0/8 loopback', '127.0.0.1'],
  ['127.0.0.0/8 loopback, inside', '127.255.255.254'],
  ['169.254.0.0/16 link-local, cloud metadata', '169.254.169.254'],
  ['172.16.0.0/12 private, first', '172.16.0.1'],
  ['172.16.0.0/12 private, last', '172.31.255.255'],
  ['192.0.0.0/24 protocol assignments', '192.0.0.192'],
  ['192.0.2.0/24 documentation', '192.0.2.1'],
  ['192.31.196.0/24 AS112', '192.31.196.1'],
  ['192.52.193.0/24 AMT', '192.52.193.1'],
  ['192.88.99.0/24 6to4 relays', '192.88.99.1'],
  ['192.168.0.0/16 private', '192.168.1.1'],
  ['192.175.48.0/24 AS112', '192.175.48.1'],
  ['198.18.0.0/15 benchmarking, first', '198.18.0.1'],
  ['198.18.0.0/15 benchmarking, last', '198.19.255.255'],
  ['198.51.100.0/24 documentation', '198.51.100.1'],
  ['203.0.113.0/24 documentation', '203.0.113.1'],
  ['224.0.0.0/4 multicast', '224.0.0.251'],
  ['240.0.0.0/4 reserved', '240.0.0.1'],
  ['255.255.255.255 broadcast', '255.255.255.255'],
  ['168.63.129.16 a cloud host agent', '168.63.129.16'],
  [':: unspecified', '::'],
  ['::1 loopback', '::1'],
  ['::/96 IPv4-compatible', '::127.0.0.1'],
  ['::/96 IPv4-compatible of a public one', '::8.8.8.8'],
  ['::ffff:0:0/96 mapped loopback', '::ffff:127.0.0.1'],
  ['::ffff:0:0/96 mapped private, in hex', '::ffff:c0a8:101'],
  ['::ffff:0:0/96 mapped public', '::ffff:8.8.8.8'],
  ['::ffff:0:0:0/96 translated', '::ffff:0:7f00:1'],
  ['64:ff9b::/96 NAT64', '64:ff9b::7f00:1'],
  ['64:ff9b:1::/48 local NAT64', '64:ff9b:1::1'],
  ['100::/64 discard', '100::1'],
  ['2001::/32 Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['2001:2::/48 benchmarking', '2001:2::1'],
  ['2001:3::/32 AMT', '2001:3::1'],
  ['2001:4:112::/48 AS112', '2001:4:112::1'],
  ['2001:10::/28 ORCHID', '2001:10::1'],
  ['2001:20::/28 ORCHIDv2', '2001:20::1'],
  ['2001:db8::/32 documentation', '2001:db8::1'],
  ['2002::/16 6to4 of a private one', '2002:c0a8:101::1'],
  ['3fff::/20 documentation', '3fff::1'],
  ['4000::/3 not allocated', '4000::1'],
  ['5f00::/16 segment routing', '5f00::1'],
  ['fc00::/7 unique local', 'fc00::1'],
  ['fc00::/7 unique local, second half', 'fd12:3456:789a::1'],
  ['fe80::/10 link-local', 'fe80::1'],
  ['fe80::/10 link-local with a zone', 'fe80::1%eth0'],
  ['fec0::/10 site-local', 'fec0::1'],
  ['ff00::/8 multicast', 'ff02::1'],
  ['nothing', ''],
  ['a name', 'localhost'],
  ['brackets', '[2606:4700::1]'],
];

const ACCEPTED = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
];

describe('isPublicAddress', () => {
  test.each(REFUSED)('refuses %s (%s)', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(ACCEPTED)('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('checkPublicUrl', () => {
  const options = (addresses?: string[]) => ({
    allowPrivate: false,
    lookup: async () => {
      if (!addresses) throw new Error('does not resolve');
      return addresses;
    },
  });

  test.each([
    ['http://example.com/', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['https://user:pw@example.com/', 'credentials'],
    ['https://user@example.com/', 'credentials'],
    ['not a url', 'invalid'],
    ['https://example.com:22/', 'port'],
    ['https://example.com:25/', 'port'],
    ['https://example.com:587/', 'port'],
    ['https://example.com:6667/', 'port'],
    ['https://example.com:10080/', 'port'],
    ['https://8.8.8.8:0025/', 'port'],
    ['https://127.0.0.1/', 'blocked_address'],
    ['https://127.1/', 'blocked_address'],
    ['https://2130706433/', 'blocked_address'],
    ['https://0x7f000001/', 'blocked_address'],
    ['https://0177.0.0.1/', 'blocked_address'],
    ['https://127.0.0.1./', 'blocked_address'],
    ['https://①②⑦.0.0.1/', 'blocked_address'],
    ['https://[::1]/', 'blocked_address'],
    ['https://[::ffff:127.0.0.1]/', 'blocked_address'],
    ['https://[0:0:0:0:0:ffff:7f00:1]/', 'blocked_address'],
    ['https://[64:ff9b::10.0.0.1]/', 'blocked_address'],
  ])('refuses %s: %s', async (url, reason) => {
    expect(await checkPublicUrl(url, options(['8.8.8.8']))).toEqual({ ok: false, reason });
  });

  test('refuses a name when any of its addresses is not public', async () => {
    expect(await checkPublicUrl('https://example.com/', options(['8.8.8.8', '10.0.0.1']))).toEqual({
      ok: false,
      reason: 'blocked_address',
    });
  });

  test('accepts a public name, a public address, and a name that does not resolve', async () => {
    expect(await checkPublicUrl('https://example.com/x', options(['8.8.8.8', '2606:4700::1']))).toEqual({ ok: true });
    expect(await checkPublicUrl('https://8.8.8.8/', options())).toEqual({ ok: true });
    expect(await checkPublicUrl('https://example.com/', options())).toEqual({ ok: true });
    expect(await checkPublicUrl('https://example.com:8443/', options(['8.8.8.8']))).toEqual({ ok: true });
  });

  test('accepts http and private addresses only with allowPrivate, and never credentials', async () => {
    const allowed = { ...options(['10.0.0.1']), allowPrivate: true };
    expect(await checkPublicUrl('http://127.0.0.1:9000/', allowed)).toEqual({ ok: true });
    expect(await checkPublicUrl('http://receiver/', allowed)).toEqual({ ok: true });
    expect(await checkPublicUrl('http://receiver:25/', allowed)).toEqual({ ok: true });
    expect(await checkPublicUrl('http://u:p@127.0.0.1/', allowed)).toEqual({ ok: false, reason: 'credentials' });
    expect(await checkPublicUrl('ftp://127.0.0.1/', allowed)).toEqual({ ok: false, reason: 'scheme' });
  });
});
