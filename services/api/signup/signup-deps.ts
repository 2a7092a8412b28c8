import type { MailDomainCheck } from '../../../shared/mail/mail-domain.ts';
import type { Mailer } from '../../../shared/mail/mailer.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { CodeBudgets } from './signup-limits.ts';

/** Collaborators of sign-up. */
export interface SignupDeps {
  pool: Pool;
  logger: Logger;
  mailer: Mailer;
  /** The installation's secret key. The keys for hashes of codes and mailboxes are derived from it. */
  secretKey: string;
  /** Secret keys before it. Default: none. */
  previousKeys?: readonly string[];
  signup: CodeBudgets & { enabled: boolean };
  /** undefined: domains are not looked up. */
  acceptsMail: MailDomainCheck | undefined;
  /** The addresses of the API and of sign-up, without a trailing slash. */
  baseUrl: string;
  appUrl: string;
  /** Where people reach the dashboard, without a trailing slash. */
  dashboardUrl: string;
}
