import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

/** Collaborators of the account routes. */
export interface AccountDeps {
  pool: Pool;
  /** Where clients reach the API and sign-up, without a trailing slash. */
  baseUrl: string;
  appUrl: string;
  /** Where people reach the dashboard, without a trailing slash. */
  dashboardUrl: string;
  clock: Clock;
  mailer: Mailer;
  logger: Logger;
  /** Returns what stays of a mailbox address after its account is deleted. */
  mailboxHash: (mailbox: string) => Buffer;
  /** Opens the records of OAuth grants. */
  secretBox: SecretBox;
}
