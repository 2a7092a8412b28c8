import { grantHashStart, grantPublicId } from './rules/credentials.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRow, readRows } from '../postgres/sql.ts';
import type { SealedRecords } from './sealed-records.ts';

/** A connected app: a program that may use the tool server on behalf of an account. */
export interface AccountGrant {
  /** gra_ and 96 bits. It only serves to revoke the grant. */
  id: string;
  clientId: string;
  /** The name that the app gave itself; null when it gave none or its registration has expired. */
  clientName: string | null;
  scopes: string[];
  grantedAt: Date;
  /** To the minute; null when never used. */
  lastUsedAt: Date | null;
}

interface StoredGrant extends Pick<AccountGrant, 'grantedAt' | 'lastUsedAt'> {
  idHash: Buffer;
  /** Sealed. */
  payload: Buffer;
}

const MAX_GRANTS = 1_000;

/** Newest first, at most 1,000. Grants sealed with another secret key are left out: their tokens do not work either. */
export async function listAccountGrants(
  db: Queryable,
  records: SealedRecords,
  accountId: string,
): Promise<AccountGrant[]> {
  const names = new Map<string, Promise<string | null>>();
  const nameOf = (clientId: string) => {
    const name = names.get(clientId) ?? clientName(records, clientId);
    names.set(clientId, name);
    return name;
  };
  const rows = await readRows<StoredGrant>(db)`
    SELECT id_hash AS "idHash", payload, written_at AS "grantedAt", last_used_at AS "lastUsedAt"
    FROM oauth_records
    WHERE account_id = ${accountId} AND model = 'Grant' AND expires_at > (SELECT service_now())
    ORDER BY written_at DESC, id_hash
    LIMIT ${MAX_GRANTS}`;
  const read = await Promise.all(rows.map((grant) => grantOf(grant, records, nameOf)));
  return read.filter((grant) => grant !== undefined);
}

/**
 * Revokes a grant of an account with its codes and tokens. Every process refuses requests that arrive after the commit.
 * Until the grant would have expired, it is known as revoked, so that a repeated request is answered like the first.
 *
 * @returns false when the account has no grant with this id
 */
export async function revokeGrant(db: Queryable, accountId: string, publicId: string): Promise<boolean> {
  const hashStart = grantHashStart(publicId);
  if (hashStart === undefined) return false;
  const grant = await readRow<{ id_hash: Buffer; model: string }>(db)`
    SELECT id_hash, model FROM oauth_records
    WHERE account_id = ${accountId} AND model IN ('Grant', 'RevokedGrant')
      AND substring(id_hash FOR ${hashStart.length}) = ${hashStart}
      AND expires_at > (SELECT service_now())`;
  if (grant?.model === 'Grant') {
    // A token that is issued at the same moment is invalid without its grant.
    await execute(db)`
      WITH locked AS MATERIALIZED (
        SELECT id_hash FROM oauth_records
        WHERE grant_hash = ${grant.id_hash} OR (id_hash = ${grant.id_hash} AND model = 'Grant')
        ORDER BY id_hash
        FOR UPDATE
      ), revoked AS (
        UPDATE oauth_records r SET model = 'RevokedGrant', payload = ''
        FROM locked
        WHERE r.id_hash = locked.id_hash AND r.id_hash = ${grant.id_hash}
      )
      DELETE FROM oauth_records r USING locked WHERE r.id_hash = locked.id_hash AND r.id_hash <> ${grant.id_hash}`;
  }
  return grant !== undefined;
}

async function grantOf(
  { idHash, payload, grantedAt, lastUsedAt }: StoredGrant,
  records: SealedRecords,
  nameOf: (clientId: string) => Promise<string | null>,
): Promise<AccountGrant | undefined> {
  const read = records.unseal('Grant', idHash, payload);
  if (typeof read?.clientId !== 'string') return undefined;
  const scopes = Object.values((read.resources ?? {}) as Record<string, string>).flatMap((text) => text.split(' '));
  return {
    id: grantPublicId(idHash),
    clientId: read.clientId,
    clientName: await nameOf(read.clientId),
    scopes,
    grantedAt,
    lastUsedAt,
  };
}

async function clientName(records: SealedRecords, clientId: string): Promise<string | null> {
  const model = /^https?:/i.test(clientId) ? 'ClientDocument' : 'Client';
  const name = (await records.find(model, clientId))?.payload.client_name;
  return typeof name === 'string' ? name : null;
}
