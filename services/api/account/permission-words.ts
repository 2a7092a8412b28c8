import type { KeyScope } from '../../../schemas/api/account.ts';

/** What a key may do, in the words of the dashboard and of mails. */
export const PERMISSION_WORDS: Readonly<Record<KeyScope, string>> = {
  'forum:read': 'Read and search the forum with your credits',
  'monitors:read': 'See your monitors, their matches and deliveries',
  'monitors:write': 'Create, change and delete monitors',
  account: 'Manage the account: see its ledger, create and revoke keys, delete it',
};
