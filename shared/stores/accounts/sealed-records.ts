import { hashOAuthId } from '../../domain/accounts/oauth-secret.ts';
import type { SecretBox } from '../../domain/secret-box.ts';
import type { Queryable } from '../../postgres/pool.ts';
import {
  consumeOAuthRecord,
  deleteOAuthRecord,
  findOAuthRecord,
  isAllowedOAuthClient,
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
  consumed: boolean;
  /** Seconds since it was written, and until it expires. */
  age: number;
  secondsLeft: number;
}

/**
 * Records by ids that are secret: of an id only its hash is stored, and all else is sealed. Whoever reads the database
 * finds neither tokens nor codes nor clients' secrets in it.
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
      payload: this.box.seal(JSON.stringify(payload), contextOf(model, idHash)),
      validSeconds,
    });
  }

  /** Undefined when it is not there, or has expired. */
  async find(model: string, id: string): Promise<FoundRecord | undefined> {
    const idHash = hashOAuthId(id);
    const found = await findOAuthRecord(this.db, model, idHash);
    if (found === undefined) return undefined;
    const payload = this.unseal(model, idHash, found.payload);
    return payload && { payload, consumed: found.consumed, age: found.age, secondsLeft: found.secondsLeft };
  }

  /** Undefined when it was sealed with another secret key: whoever holds the id has to sign in, or register, again. */
  unseal(model: string, idHash: Buffer, sealed: Uint8Array): Record<string, unknown> | undefined {
    try {
      return JSON.parse(this.box.open(sealed, contextOf(model, idHash))) as Record<string, unknown>;
    } catch {
      return undefined;
    }
  }

  /** False when it was used before; kept for `keptSeconds` at least. */
  consume(model: string, id: string, keptSeconds: number): Promise<boolean> {
    return consumeOAuthRecord(this.db, model, hashOAuthId(id), keptSeconds);
  }

  delete(model: string, id: string): Promise<void> {
    return deleteOAuthRecord(this.db, model, hashOAuthId(id));
  }

  /** Somebody allowed a client something: it is kept for `seconds` more. */
  allowClient(id: string, seconds: number): Promise<void> {
    return allowOAuthClient(this.db, hashOAuthId(id), seconds);
  }

  /** Whether anybody ever allowed a client anything. */
  isAllowedClient(id: string): Promise<boolean> {
    return isAllowedOAuthClient(this.db, hashOAuthId(id));
  }

  revokeGrant(grantId: string): Promise<void> {
    return revokeOAuthGrant(this.db, hashOAuthId(grantId));
  }
}

function contextOf(model: string, idHash: Buffer): string {
  return `oauth ${model} ${idHash.toString('hex')}`;
}
