import { createHmac, hkdfSync } from 'node:crypto';

/** Identifies a mailbox without revealing it. The same mailbox always has the same hash. */
export type MailboxHash = (mailbox: string) => Buffer;

/**
 * HMAC-SHA256 with a key derived (HKDF) from the installation's secret key, so that the database alone does not allow
 * guessing addresses. With another secret key every mailbox gets another hash.
 */
export function createMailboxHash(secretKey: string): MailboxHash {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'forum-monitor mailboxes v1', 32));
  return (mailbox) => createHmac('sha256', key).update(mailbox).digest();
}
