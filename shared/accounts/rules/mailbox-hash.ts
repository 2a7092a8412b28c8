import { createHmac, hkdfSync } from 'node:crypto';

/** Identifies a mailbox without revealing it. The same mailbox always has the same hash. */
export interface MailboxHash {
  (mailbox: string): Buffer;
  /** Every hash that the mailbox may be stored under: the one above, and those of the keys before. */
  all(mailbox: string): Buffer[];
}

/**
 * HMAC-SHA256 with a key derived (HKDF) from the installation's secret key, so that the database alone does not allow
 * guessing addresses. With another secret key every mailbox gets another hash.
 */
export function createMailboxHash(secretKey: string, previousKeys: readonly string[] = []): MailboxHash {
  const keys = [secretKey, ...previousKeys].map((one) =>
    Buffer.from(hkdfSync('sha256', one, '', 'forum-monitor mailboxes v1', 32)),
  );
  const all = (mailbox: string) => keys.map((key) => createHmac('sha256', key).update(mailbox).digest());
  return Object.assign((mailbox: string) => createHmac('sha256', keys[0]!).update(mailbox).digest(), { all });
}
