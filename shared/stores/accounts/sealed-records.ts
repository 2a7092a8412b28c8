import { hashOAuthId } from '../../domain/accounts/oauth-secret.ts';
import type { SecretBox } from '../../domain/secret-box.ts';
import type { Queryable } from '../../postgres/pool.ts';
import {
  consumeOAuthRecord,
  consumeRefreshToken,
  deleteOAuthRecord,
  findOAuthRecord,
  allowOAuthClient,
  putOAuthRecord,
  revokeOAuthGrant,
} from './oauth-records.ts';

export interface NewRecord {
  model: string;
  id: string;
  payload: Record<string, unknown>;
  validSeconds: number;
}

export interface FoundRecord {
  payload: Record<string, unknown>;
  /** As in StoredOAuthRecord. */
  consumed: boolean;
  consumedAt: string | null;
  /** Seconds since it was written. `secondsLeft`: seconds until it expires. */
  age: number;
  secondsLeft: number;
}

/**
 * OAuth records addressed by secret ids. Only the hash of an id is stored, and the payload is sealed, so that the
 * database reveals no tokens, codes or client secrets.
 */
export class SealedRecords {
  private readonly db: Queryable;
  private readonly box: SecretBox;

  constructor(db: Queryable, box: SecretBox) {
    this.db = db;
    this.box = box;
  }

  async put({ model, id, payload, validSeconds }: NewRecord): Promise<void> {
    const idHash = hashOAuthId(id);
    const { grantId, accountId, scope, aud } = payload;
    await putOAuthRecord(this.db, {
      model,
      idHash,
      grantHash: typeof grantId === 'string' && model !== 'Interaction' ? hashOAuthId(grantId) : undefined,
      accountId: typeof accountId === 'string' ? accountId : undefined,
      scopes: typeof scope === 'string' ? scope.split(' ') : undefined,
      audience: typeof aud === 'string' ? aud : undefined,
      payload: this.box.seal(JSON.stringify(payload), contextOfRecord(model, idHash)),
      validSeconds,
    });
  }

  /** Returns undefined when the record does not exist or has expired. */
  async find(model: string, id: string): Promise<FoundRecord | undefined> {
    const idHash = hashOAuthId(id);
    const found = await findOAuthRecord(this.db, model, idHash);
    if (found === undefined) return undefined;
    const payload = this.unseal(model, idHash, found.payload);
    return payload && { ...found, payload };
  }

  /** Returns undefined when it was sealed with another secret key. Its holder must then sign in or register again. */
  unseal(model: string, idHash: Buffer, sealed: Uint8Array): Record<string, unknown> | undefined {
    try {
      return JSON.parse(this.box.open(sealed, contextOfRecord(model, idHash))) as Record<string, unknown>;
    } catch {
      return undefined;
    }
  }

  /** Marks a record as used; see consumeOAuthRecord. Returns false when it was used before. */
  consume(model: string, id: string, keptSeconds: number): Promise<boolean> {
    return consumeOAuthRecord(this.db, model, hashOAuthId(id), keptSeconds);
  }

  /** Marks a refresh token as used; see consumeRefreshToken. Returns false when it was used since it was found. */
  consumeRefreshToken(id: string, seen: string | null): Promise<boolean> {
    return consumeRefreshToken(this.db, hashOAuthId(id), seen);
  }

  delete(model: string, id: string): Promise<void> {
    return deleteOAuthRecord(this.db, model, hashOAuthId(id));
  }

  /** Keeps a client that somebody authorised for `seconds` more. */
  allowClient(id: string, seconds: number): Promise<void> {
    return allowOAuthClient(this.db, hashOAuthId(id), seconds);
  }

  revokeGrant(grantId: string): Promise<void> {
    return revokeOAuthGrant(this.db, hashOAuthId(grantId));
  }
}

/** What a record is sealed for. */
export function contextOfRecord(model: string, idHash: Buffer): string {
  return `oauth ${model} ${idHash.toString('hex')}`;
}
