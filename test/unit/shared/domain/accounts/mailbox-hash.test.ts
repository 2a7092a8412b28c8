import { createHmac, hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createMailboxHash } from '../../../../../shared/domain/accounts/mailbox-hash.ts';

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
