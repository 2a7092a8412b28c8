import { expect, test } from 'vitest';
import { creditedFormsOf, creditedMailboxOf } from '../../../../../shared/domain/accounts/credited-mailbox.ts';

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
