import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import type { PublicUrlOptions } from '../../../shared/http/public-address.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';

/** What the monitor routes work with. */
export interface MonitorDeps {
  pool: Pool;
  /** Seals webhook secrets; the context is the monitor's id. */
  secretBox: SecretBox;
  /** How webhook URLs are judged. */
  webhooks: PublicUrlOptions;
  /** Suppressed matches that a monitor may store a UTC day: warnings name it. */
  suppressedPerDay: number;
}
