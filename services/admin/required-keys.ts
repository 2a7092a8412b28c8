import type { Queryable } from '../../shared/postgres/pool.ts';
import { findSecretKeys } from '../../shared/stores/upkeep/secret-keys.ts';
import type { SecretKeys, SecretKeySettings } from '../../shared/stores/upkeep/secret-keys.ts';
import { AdminError } from './admin-error.ts';

/** @throws AdminError when SECRET_KEY is unset although the services have one */
export async function requireSecretKeys(db: Queryable, settings: SecretKeySettings): Promise<SecretKeys> {
  const keys = await findSecretKeys(db, settings);
  if (keys === undefined) throw new AdminError('Set SECRET_KEY to the value that the service runs with.');
  return keys;
}
