import type { MailDomainCheck } from '../../../shared/mail/mail-domain.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { CodeBudgets } from './signup-limits.ts';

/** What sign-up works with. */
export interface SignupDeps {
  pool: Pool;
  logger: Logger;
  mailer: Mailer;
  /** The installation's: the hashes of codes and mailboxes are keyed with keys derived from it. */
  secretKey: string;
  signup: CodeBudgets & { enabled: boolean };
  /** undefined: domains are not looked up. */
  takesMail: MailDomainCheck | undefined;
  /** Where the API is, and where sign-up is; without a slash at the end. */
  baseUrl: string;
  appUrl: string;
}
