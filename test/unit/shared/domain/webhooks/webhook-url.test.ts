import { expect, test } from 'vitest';
import { webhookUrlFault } from '../../../../../shared/domain/webhooks/webhook-url.ts';

test.each([
  ['https://example.com/x', false, undefined],
  ['HTTPS://example.com', false, undefined],
  ['http://example.com', true, undefined],
  ['http://example.com', false, 'must be an https:// URL'],
  ['ftp://example.com', true, 'must be an https:// or http:// URL'],
  ['example.com', false, 'must be an https:// URL'],
  ['https://', false, 'must be an https:// URL'],
  ['https:\\\\example.com', false, 'must be an https:// URL'],
  [' https://example.com', false, 'must be an https:// URL'],
  ['https://exa\nmple.com', false, 'must be an https:// URL'],
  ['https://user@example.com', false, 'must not hold a user name or a password'],
  ['https://:pw@example.com', false, 'must not hold a user name or a password'],
  [`https://example.com/${'x'.repeat(2_048)}`, false, 'must have at most 2048 characters'],
] as const)('the URL %j, http allowed %s: %s', (url, allowHttp, fault) => {
  expect(webhookUrlFault(url, allowHttp)).toBe(fault);
});
