import { readEndpoints } from '../../shared/runtime/endpoints-file.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { AdminError } from './admin-error.ts';

/**
 * Where the installation's Postgres answers: DATABASE_URL, else what the running service wrote into its data directory.
 *
 * @throws AdminError when there is neither
 */
export function findPostgres(config: Pick<Config, 'postgresUrl' | 'dataDir'>): string {
  const url = config.postgresUrl ?? readEndpoints(config.dataDir)?.postgres;
  if (url === undefined) {
    throw new AdminError(
      `No service is running with DATA_DIR ${config.dataDir}. Start one with "npm start", or set DATA_DIR or DATABASE_URL to those of the one you mean.`,
    );
  }
  return url;
}
