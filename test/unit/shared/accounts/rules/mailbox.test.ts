import { createHmac, hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  createMailboxHash,
  creditedFormsOf,
  creditedMailboxOf,
  mailboxOf,
} from '../../../../../shared/accounts/rules/mailbox.ts';

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
  ['ada@example.com', 'ada@example.com'],
  ['a.d-a@example.com', 'a.d-a@example.com'],
  ['ada@yandex.ru', 'ada@yandex.ru'],
  ['ada.l@ya.ru', 'ada-l@yandex.ru'],
  ['ada-l@yandex.kz', 'ada-l@yandex.ru'],
  ['ada_l@narod.ru', 'ada_l@yandex.ru'],
  ['ada.l@me.com', 'ada.l@icloud.com'],
  ['ada@mac.com', 'ada@icloud.com'],
  ['ada@hanmail.net', 'ada@daum.net'],
  ['ada@wanadoo.fr', 'ada@orange.fr'],
  ['base-one@yahoo.com', 'base@yahoo.com'],
  ['base-one-two@yahoo.co.uk', 'base@yahoo.co.uk'],
  ['-one@yahoo.com', '-one@yahoo.com'],
  ['base-one@yahoo.co.jp', 'base-one@yahoo.co.jp'],
])('the free credits of %s are those of %s', (mailbox, credited) => {
  expect(creditedMailboxOf(mailbox)).toBe(credited);
  expect(creditedFormsOf(mailbox)).toEqual(expect.arrayContaining([credited, mailbox]));
});

test('credits recorded for another domain or spelling of a mailbox are found', () => {
  expect(creditedFormsOf('ada@example.com')).toEqual(['ada@example.com']);
  expect(creditedFormsOf('ada@icloud.com')).toEqual(['ada@icloud.com', 'ada@me.com', 'ada@mac.com']);
  const forms = creditedFormsOf('a.b-c@ya.ru');
  expect(forms[0]).toBe('a-b-c@yandex.ru');
  expect(forms).toEqual(expect.arrayContaining(['a.b-c@ya.ru', 'a.b.c@yandex.com', 'a-b-c@yandex.by']));
  expect(forms).toHaveLength(24);
});

const SECRET_KEY = 'a secret key for tests, 32 characters';

test('the hash of a mailbox has its own key, derived from the secret key', () => {
  const key = Buffer.from(hkdfSync('sha256', SECRET_KEY, '', 'forum-monitor mailboxes v1', 32));
  const expected = createHmac('sha256', key).update('a@example.com').digest();
  // Changing this would give every mailbox its free credits again.
  expect(createMailboxHash(SECRET_KEY)('a@example.com')).toEqual(expected);
});

test('another mailbox or another secret key gives another hash', () => {
  const hash = createMailboxHash(SECRET_KEY)('a@example.com');
  expect(createMailboxHash(SECRET_KEY)('b@example.com')).not.toEqual(hash);
  expect(createMailboxHash(`${SECRET_KEY}!`)('a@example.com')).not.toEqual(hash);
});
