import { newAccountId } from '../rules/identifiers.ts';
import { mailboxOf } from './rules/mailbox.ts';
import type { Pack } from '../billing/rules/plans.ts';
import type { Queryable } from '../postgres/pool.ts';
import { insertAccount, recordPack } from './accounts.ts';
import { issueApiKey } from './api-keys.ts';
import { credit } from '../billing/ledger.ts';

export interface NewAccount {
  email: string;
  /** Credits granted at once; 0 or more. */
  credits: number;
  /** Sets the limits only; 0 for none. */
  pack: Pack;
  keyName: string;
}

export interface OpenedAccount {
  accountId: string;
  /** Not available again later. */
  apiKey: string;
}

/**
 * Opens an account with its credits, its pack and a first key. Call it in a transaction, so that all of it is stored or
 * nothing.
 *
 * @returns undefined when the mailbox already has an account; nothing changes then
 */
export async function openAccount(db: Queryable, account: NewAccount): Promise<OpenedAccount | undefined> {
  const accountId = newAccountId();
  const isNew = await insertAccount(db, { id: accountId, email: account.email, mailbox: mailboxOf(account.email) });
  if (!isNew) return undefined;
  if (account.pack > 0) {
    await recordPack(db, { id: `granted:${accountId}`, accountId, pack: account.pack, credits: 0 });
  }
  if (account.credits > 0) {
    await credit(db, { accountId, kind: 'grant', credits: account.credits, reference: 'opening' });
  }
  return { accountId, apiKey: await issueApiKey(db, accountId, account.keyName) };
}
