import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';

/** What the account routes work with. */
export interface AccountDeps {
  pool: Pool;
  /** Where clients reach the API, without a slash at the end. */
  baseUrl: string;
  /** What is kept of a mailbox when its account is deleted. */
  mailboxHash: (mailbox: string) => Buffer;
  /** What programs were allowed is sealed with it. */
  secretBox: SecretBox;
}
