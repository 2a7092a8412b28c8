import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';

/** Collaborators of the account routes. */
export interface AccountDeps {
  pool: Pool;
  /** Where clients reach the API, without a trailing slash. */
  baseUrl: string;
  /** Returns what stays of a mailbox address after its account is deleted. */
  mailboxHash: (mailbox: string) => Buffer;
  /** Opens the records of OAuth grants. */
  secretBox: SecretBox;
}
