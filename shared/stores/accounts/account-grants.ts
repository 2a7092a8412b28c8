import { grantHashStart, grantPublicId } from '../../domain/accounts/oauth-secret.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { listOAuthGrants, revokeAccountGrant } from './oauth-grants.ts';
import type { StoredGrant } from './oauth-grants.ts';
import type { SealedRecords } from './sealed-records.ts';

/** A program that an account allowed something, by the sign-in for the tool server. */
export interface AccountGrant {
  /** gra_ and 96 bits; of no use but to revoke it. */
  id: string;
  clientId: string;
  /** What the program calls itself; null: nothing, or it is not known any more. */
  clientName: string | null;
  scopes: string[];
  grantedAt: Date;
  /** To the minute; null: never. */
  lastUsedAt: Date | null;
}

const MOST_GRANTS = 1_000;

/**
 * The newest first, at most 1,000. What was sealed with another secret key is left out: its tokens are of no use
 * either.
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
  const grants = await listOAuthGrants(db, accountId, MOST_GRANTS);
  const read = await Promise.all(grants.map((grant) => grantOf(grant, records, nameOf)));
  return read.filter((grant) => grant !== undefined);
}

/** Ends a grant at once, everywhere. False when the account has none with this id. */
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
