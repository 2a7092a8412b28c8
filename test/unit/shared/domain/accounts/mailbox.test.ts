import { expect, test } from 'vitest';
import { isEmailAddress, mailboxOf } from '../../../../../shared/domain/accounts/mailbox.ts';

test.each([
  ['Ada@Example.COM', 'ada@example.com'],
  ['ada+news@example.com', 'ada@example.com'],
  ['a.d.a@example.com', 'a.d.a@example.com'],
  ['A.d.a+x@gmail.com', 'ada@gmail.com'],
  ['a.da@googlemail.com', 'ada@gmail.com'],
  ['a-d_a@gmail.com', 'a-d_a@gmail.com'],
  ['A.d-a_x+y@ProtonMail.com', 'adax@proton.me'],
  ['ada@pm.me', 'ada@proton.me'],
  ['a.da@mail.gmail.com', 'a.da@mail.gmail.com'],
  ['+tag@example.com', '+tag@example.com'],
  ['demo@localhost', 'demo@localhost'],
])('the mailbox of %s is %s', (address, mailbox) => {
  expect(mailboxOf(address)).toBe(mailbox);
});

test.each([
  ['a@example.com', true],
  ['demo@localhost', true],
  ['a', false],
  ['@example.com', false],
  ['a@', false],
  ['a b@example.com', false],
  ['a@b@example.com', false],
  ['a\0@example.com', false],
  [`${'a'.repeat(250)}@example.com`, false],
])('%j is an address: %s', (text, expected) => {
  expect(isEmailAddress(text)).toBe(expected);
});
