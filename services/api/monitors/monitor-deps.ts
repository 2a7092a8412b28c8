import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import type { PublicUrlOptions } from '../../../shared/http/public-address.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { ArchiveSample } from './archive-sample.ts';

/** Collaborators of the monitor routes. */
export interface MonitorDeps {
  pool: Pool;
  /** Seals webhook secrets, with the monitor's id as context. */
  secretBox: SecretBox;
  /** How webhook URLs are checked. */
  webhooks: PublicUrlOptions;
  /** The forum's public address, which URLs of posts begin with. */
  siteUrl: string;
  /** How many suppressed matches are stored per monitor and UTC day; named in warnings. */
  suppressedPerDay: number;
  /** For the shares of common keywords; named in warnings. */
  archiveSample: ArchiveSample;
}
