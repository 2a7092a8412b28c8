import { grantHashStart, grantPublicId } from '../../domain/accounts/oauth-secret.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { listOAuthGrants, revokeAccountGrant } from './oauth-grants.ts';
import type { StoredGrant } from './oauth-grants.ts';
import type { SealedRecords } from './sealed-records.ts';

/** An OAuth grant of an account: a program that may use the tool server on its behalf. */
export interface AccountGrant {
  /** gra_ and 96 bits. It only serves to revoke the grant. */
  id: string;
  clientId: string;
  /** The name that the program gave itself; null when it gave none or its registration has expired. */
  clientName: string | null;
  scopes: string[];
  grantedAt: Date;
  /** To the minute; null when never used. */
  lastUsedAt: Date | null;
}

const MAX_GRANTS = 1_000;

/**
 * Lists an account's grants, newest first, at most 1,000. Grants sealed with another secret key are left out: their
 * tokens do not work either.
 */
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
  const grants = await listOAuthGrants(db, accountId, MAX_GRANTS);
  const read = await Promise.all(grants.map((grant) => grantOf(grant, records, nameOf)));
  return read.filter((grant) => grant !== undefined);
}

/** Revokes a grant for all processes at once. Returns false when the account has no grant with this id. */
export async function revokeGrant(db: Queryable, accountId: string, publicId: string): Promise<boolean> {
  const hashStart = grantHashStart(publicId);
  return hashStart !== undefined && revokeAccountGrant(db, accountId, hashStart);
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
