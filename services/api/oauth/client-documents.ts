import { errors } from 'oidc-provider';
import type { ClientMetadata } from 'oidc-provider';
import { z } from 'zod';
import type { OutboundDoor, OutboundResult } from '../../../shared/http/outbound-door.ts';
import { urlRefusal } from '../../../shared/http/public-address.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { takeUse } from '../../../shared/stores/recent-uses.ts';
import { clientMetadata, clientOf, metadataFault, UNUSED_CLIENT_SECONDS } from './client-metadata.ts';
import type { SealedRecords } from './sealed-records.ts';

/** Finds the client that a URL describes. @throws errors.InvalidClient, errors.TemporarilyUnavailable */
export type FindDocument = (id: string) => Promise<ClientMetadata>;

const DEADLINE_MS = 8_000;
const FRESH_SECONDS = 3_600;
const FAILURE_MS = 30_000;
const MOST_FAILURES = 1_000;
/** Documents that no process has a copy of: each leaves a row, and nobody is known to have asked. */
const NEW_DOCUMENTS = { name: 'oauth:documents:total', most: 1_000, seconds: 3_600 };
/** Fetches under way in this process. */
const MOST_FETCHES = 20;
const LONGEST_ID = 500;

const documentSchema = clientMetadata.extend({
  client_id: z.string(),
  token_endpoint_auth_method: z.literal('none').optional(),
  client_secret: z.undefined().optional(),
});

/** Whether a client id is the address of a document. */
export function isDocumentId(id: string): boolean {
  return /^https?:/i.test(id);
}

/**
 * Client id metadata documents (draft-ietf-oauth-client-id-metadata-document): a client's id is the https address of a document about it. It is
 * fetched through the door, without redirects, kept for an hour for all processes, and used for longer only while it cannot be had: a site that is
 * away signs nobody out. What could not be fetched is not tried again for half a minute.
 */
export function createFindDocument(options: {
  door: OutboundDoor;
  allowPrivate: boolean;
  records: SealedRecords;
  db: Queryable;
}): FindDocument {
  const { door, allowPrivate, records, db } = options;
  const failures = new Map<string, { error: Error; until: number }>();
  const underWay = new Map<string, Promise<ClientMetadata>>();

  async function fetchDocument(id: string): Promise<ClientMetadata> {
    const client = readDocument(id, await askFor(door, id));
    await records.put({ model: 'ClientDocument', id, payload: { ...client }, validSeconds: UNUSED_CLIENT_SECONDS });
    return client;
  }

  function fetchOnce(id: string): Promise<ClientMetadata> {
    const failure = failures.get(id);
    if (failure !== undefined && failure.until > performance.now()) return Promise.reject(failure.error);
    const running = underWay.get(id);
    if (running) return running;
    if (underWay.size >= MOST_FETCHES) return Promise.reject(away('too many documents are being fetched'));
    const fetching = fetchDocument(id)
      .catch((error: unknown) => {
        if (failures.size >= MOST_FAILURES) failures.clear();
        failures.set(id, { error: error as Error, until: performance.now() + FAILURE_MS });
        throw error;
      })
      .finally(() => underWay.delete(id));
    underWay.set(id, fetching);
    return fetching;
  }

  return async (id) => {
    const fault = idFault(id, allowPrivate);
    if (fault !== undefined) throw new errors.InvalidClient(`client_id ${fault}`);
    const kept = await records.find('ClientDocument', id);
    if (kept !== undefined && kept.age < FRESH_SECONDS) return kept.payload as unknown as ClientMetadata;
    if (kept === undefined && (await takeUse(db, NEW_DOCUMENTS)) > 0) throw away('too many new programs come now');
    try {
      return await fetchOnce(id);
    } catch (error) {
      if (kept !== undefined && error instanceof errors.TemporarilyUnavailable) {
        return kept.payload as unknown as ClientMetadata;
      }
      throw error;
    }
  };
}

/** Why a URL names no document; undefined: it does. */
function idFault(id: string, allowPrivate: boolean): string | undefined {
  if (id.length > LONGEST_ID || !URL.canParse(id)) return 'is not a URL, or too long';
  const url = new URL(id);
  if (urlRefusal(url, allowPrivate) !== undefined) return 'must be a public https URL';
  // One name for one document, and the name that people are shown is the one that is asked.
  if (url.href !== id) return `must be written ${url.href.slice(0, LONGEST_ID)}`;
  if (url.pathname === '/' || url.hash !== '') return 'must have a path and no fragment';
  return undefined;
}

async function askFor(door: OutboundDoor, id: string): Promise<string> {
  const answer = await door.send({
    url: id,
    method: 'GET',
    headers: { Accept: 'application/json', 'User-Agent': 'service-oauth/1' },
    deadlineMs: DEADLINE_MS,
  });
  const fault = answerFault(answer);
  if (fault !== undefined) throw fault;
  return answer.error === null ? answer.bodyExcerpt : '';
}

function answerFault(answer: OutboundResult): Error | undefined {
  if (answer.error === 'blocked_address') return new errors.InvalidClient('client_id must be a public address');
  if (answer.error !== null) return away(`it cannot be reached: ${answer.error}`);
  if (answer.status >= 500 || answer.status === 429) return away(`it was answered with status ${answer.status}`);
  if (answer.status !== 200) return new errors.InvalidClient(`client_id was answered with status ${answer.status}`);
  return undefined;
}

function away(reason: string): Error {
  return new errors.TemporarilyUnavailable(`The document at client_id could not be fetched: ${reason}.`);
}

function readDocument(id: string, text: string): ClientMetadata {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new errors.InvalidClient('The document at client_id is not JSON, or longer than 64 KiB.');
  }
  const parsed = documentSchema.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new errors.InvalidClient(`The document at client_id: ${issue!.path.join('.')}: ${issue!.message}`);
  }
  if (parsed.data.client_id !== id)
    throw new errors.InvalidClient('The document at client_id names another client_id.');
  const fault = metadataFault(parsed.data);
  if (fault !== undefined) throw new errors.InvalidClient(`The document at client_id: ${fault}`);
  return clientOf(id, parsed.data, { method: 'none' });
}
