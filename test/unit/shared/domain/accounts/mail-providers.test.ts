import { expect, test } from 'vitest';
import { isLargeProvider } from '../../../../../shared/domain/accounts/mail-providers.ts';
import { mailboxOf } from '../../../../../shared/domain/accounts/mailbox.ts';
import { LARGE_DOMAINS } from './mail-providers.cases.ts';

test.each(LARGE_DOMAINS)('%s is a large provider', (domain) => {
  expect(isLargeProvider(domain)).toBe(true);
});

test.each(['googlemail.com', 'protonmail.com', 'pm.me', 'GMAIL.com'])(
  'a mailbox at %s has the domain of a large provider',
  (domain) => {
    expect(isLargeProvider(mailboxOf(`a@${domain}`).slice(2))).toBe(true);
  },
);

test.each(['example.com', 'mail.gmail.com', 'com', ''])('%j is no large provider', (domain) => {
  expect(isLargeProvider(domain)).toBe(false);
});
