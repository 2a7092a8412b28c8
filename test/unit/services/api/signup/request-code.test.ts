import { expect, test } from 'vitest';
import { isDisposable } from '../../../../../services/api/signup/request-code.ts';
import { LARGE_DOMAINS } from '../../../shared/accounts/rules/mailbox-mail-providers.cases.ts';

test.each(['mailinator.com', 'a.mailinator.com', 'a.b.c.mailinator.com', 'yopmail.com'])(
  '%s is disposable',
  (domain) => {
    expect(isDisposable(domain)).toBe(true);
  },
);

test.each(['example.com', 'zzz-mailinator.com', 'mailinator.com.example.org', 'com', ''])(
  '%j is not disposable',
  (domain) => {
    expect(isDisposable(domain)).toBe(false);
  },
);

test.each(LARGE_DOMAINS)('the large provider %s is not disposable', (domain) => {
  expect(isDisposable(domain)).toBe(false);
});
