import type { Request } from 'express';
import Provider, { errors } from 'oidc-provider';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { unavailableEngine } from '../../../shared/runtime/outage-log.ts';
import { isDocumentId } from './client-documents.ts';
import type { FindDocument } from './client-documents.ts';
import type { FoundRecord, SealedRecords } from '../../../shared/accounts/sealed-records.ts';

/** How long a used code is kept, so that a second use revokes what the first one issued. */
const USED_CODE_SECONDS = 3_600;

/**
 * The provider's storage. The database's clock decides about expiry. A code or refresh token is consumed in one
 * statement. When two requests bring the same code at the same time, the second is refused and revokes what the first
 * got. When they bring the same refresh token, the second is told to retry: it may be a retry of a slow request.
 */
export function createAdapterFactory(records: SealedRecords, findDocument: FindDocument): AdapterFactory {
  return (model) => {
    if (model === 'Session') return NOTHING;
    if (model === 'Client') return clientAdapter(records, findDocument);
    return model === 'RefreshToken' ? refreshTokenAdapter(records) : recordAdapter(records, model);
  };
}

const nothing = () => Promise.resolve(undefined);

/** Sessions are not stored: for each app a person enters a code from their mail. */
const NOTHING: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** The provider answers unknown errors with 500. Those of an unavailable engine become 503. */
async function withOutages<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unavailableEngine(error) === undefined ? error : temporarilyUnavailable();
  }
}

function temporarilyUnavailable(reason = 'the service is temporarily unavailable'): Error {
  const error = new errors.TemporarilyUnavailable(reason);
  return Object.assign(error, { statusCode: 503, status: 503 });
}

function clientAdapter(records: SealedRecords, findDocument: FindDocument): Adapter {
  return {
    ...NOTHING,
    find: (id) =>
      withOutages(async () => {
        if (!isDocumentId(id)) return (await records.find('Client', id))?.payload;
        // The Express request that the provider is answering. On our own pages there is none: reloading them must fetch
        // nothing, since no limit of a network counts it. The document was found earlier.
        const address = (Provider.ctx?.req as Request | undefined)?.ip;
        if (address === undefined) return (await records.find('ClientDocument', id))?.payload;
        return findDocument(id, address);
      }),
  };
}

function recordAdapter(records: SealedRecords, model: string): Adapter {
  return {
    ...NOTHING,
    async upsert(id, payload, expiresIn) {
      if (expiresIn === undefined) throw new Error(`a ${model} must expire`);
      const { jti: _id, ...rest } = payload;
      await withOutages(() => records.put({ model, id, payload: rest, validSeconds: expiresIn }));
    },
    find: (id) =>
      withOutages(async () => {
        const found = await records.find(model, id);
        return found && payloadOf(id, found);
      }),
    consume: (id) =>
      withOutages(async () => {
        if (await records.consume(model, id, USED_CODE_SECONDS)) return;
        const grantId = (await records.find(model, id))?.payload.grantId;
        if (typeof grantId === 'string') await records.revokeGrant(grantId);
        throw new errors.InvalidGrant('used before');
      }),
    destroy: (id) => withOutages(() => records.delete(model, id)),
    revokeByGrantId: (grantId) => withOutages(() => records.revokeGrant(grantId)),
  };
}

/**
 * A refresh token whose successor nobody used may be used again: its answer may have been lost, or could not be stored.
 * It is consumed as this request found it, so that a request that was overtaken does not replace what the other got.
 */
function refreshTokenAdapter(records: SealedRecords): Adapter {
  const model = 'RefreshToken';
  const seen = new WeakMap<object, string | null>();
  return {
    ...recordAdapter(records, model),
    find: (id) =>
      withOutages(async () => {
        const found = await records.find(model, id);
        if (found !== undefined && Provider.ctx) seen.set(Provider.ctx, found.consumedAt);
        return found && payloadOf(id, found);
      }),
    consume: (id) =>
      withOutages(async () => {
        const seenAt = (Provider.ctx && seen.get(Provider.ctx)) ?? null;
        if (await records.consumeRefreshToken(id, seenAt)) return;
        throw temporarilyUnavailable('another request with this refresh token is being answered');
      }),
  };
}

function payloadOf(id: string, found: FoundRecord): AdapterPayload {
  const now = Math.floor(Date.now() / 1000);
  return {
    ...found.payload,
    jti: id,
    // By this process's clock, which the provider compares with.
    exp: now + found.secondsLeft,
    ...(found.consumed ? { consumed: now } : {}),
  };
}
