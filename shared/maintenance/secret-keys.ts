import { createSecretBox } from '../rules/secret-box.ts';
import type { SecretBox } from '../rules/secret-box.ts';
import type { Queryable } from '../postgres/pool.ts';
import { readRow } from '../postgres/sql.ts';
import { ensureSecretKey, findSecretKey } from './settings.ts';

export interface SecretKeys {
  /** Seals and opens. */
  secretKey: string;
  /** Open what was sealed before, until it is resealed. */
  previousKeys: readonly string[];
}

export interface SecretKeySettings {
  secretKey: string | undefined;
  secretKeyPrevious: string | undefined;
}

/**
 * The keys of an installation. Where SECRET_KEY is set, the key that was generated before it was is a previous one, so
 * that setting it for the first time is a rotation like any other.
 */
export async function secretKeys(db: Queryable, settings: SecretKeySettings): Promise<SecretKeys> {
  return (
    (await findSecretKeys(db, settings)) ?? {
      secretKey: await ensureSecretKey(db),
      previousKeys: [],
    }
  );
}

/** As secretKeys; undefined where SECRET_KEY is unset and none was generated. */
export async function findSecretKeys(db: Queryable, settings: SecretKeySettings): Promise<SecretKeys | undefined> {
  const { secretKey, secretKeyPrevious } = settings;
  const generated = await findSecretKey(db);
  if (secretKey === undefined) return generated === undefined ? undefined : { secretKey: generated, previousKeys: [] };
  const previousKeys = [secretKeyPrevious, generated].filter(
    (key): key is string => key !== undefined && key !== secretKey,
  );
  return { secretKey, previousKeys };
}

export function secretBoxOf({ secretKey, previousKeys }: SecretKeys): SecretBox {
  return createSecretBox(secretKey, previousKeys);
}

/** Tried with the webhook secret of the newest monitor; undefined while nothing is sealed. */
export async function opensSealed(db: Queryable, box: SecretBox): Promise<boolean | undefined> {
  const newest = await readRow<{ id: string; sealed: Buffer }>(db)`
    SELECT id, webhook_secret AS sealed FROM monitors WHERE webhook_secret <> '' ORDER BY created_at DESC, id LIMIT 1`;
  if (newest === undefined) return undefined;
  try {
    box.open(newest.sealed, newest.id);
    return true;
  } catch {
    return false;
  }
}
