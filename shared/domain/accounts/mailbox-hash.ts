import { createHmac, hkdfSync } from 'node:crypto';

/** Names a mailbox without telling it: the same mailbox has the same hash for ever. */
export type MailboxHash = (mailbox: string) => Buffer;

/**
 * HMAC-SHA256 with a key derived (HKDF) from the installation's secret key: who has the database alone cannot try
 * addresses out. With another secret key every mailbox is a new one.
 */
export function createMailboxHash(secretKey: string): MailboxHash {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'forum-monitor mailboxes v1', 32));
  return (mailbox) => createHmac('sha256', key).update(mailbox).digest();
}
