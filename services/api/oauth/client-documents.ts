import { errors } from 'oidc-provider';
import type { ClientMetadata } from 'oidc-provider';
import { z } from 'zod';
import type { EgressClient, EgressResult } from '../../../shared/http/egress-client.ts';
import { urlRefusal } from '../../../shared/http/public-address.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';
import { validationMessage } from '../http/invalid-request.ts';
import { takeForNetworks } from './oauth-limits.ts';
import { clientMetadata, clientOf, metadataFault, UNUSED_CLIENT_SECONDS } from './register-client.ts';

/**
 * Finds the client that a URL describes.
 *
 * @param clientAddress address of the requester
 * @throws errors.InvalidClient, errors.TemporarilyUnavailable
 */
export type FindDocument = (id: string, clientAddress: string) => Promise<ClientMetadata>;

const DEADLINE_MS = 8_000;
const FRESH_SECONDS = 3_600;
/**
 * Fetches per hour, for a /24 or a /64 and in total. Cached documents do not count: the limit covers the requests we
 * send to other sites and the rows they leave.
 */
const FETCHES_PER_NETWORK = 30;
const FETCHES = { name: 'oauth:documents:total', maxUses: 1_000, seconds: 3_600 };
const MAX_ID_LENGTH = 500;

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
 * Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): the client id is the https address of a
 * document that describes the client. The egress client fetches it without redirects. All processes share the stored
 * document for an hour, and longer only while the site cannot be reached: an unreachable site signs nobody out.
 */
export function createFindDocument(options: {
  egress: EgressClient;
  allowPrivate: boolean;
  records: SealedRecords;
  pool: Pool;
}): FindDocument {
  const { egress, allowPrivate, records, pool } = options;
  return async (id, clientAddress) => {
    const fault = idFault(id, allowPrivate);
    if (fault !== undefined) throw new errors.InvalidClient(`client_id ${fault}`);
    const stored = await records.find('ClientDocument', id);
    if (stored !== undefined && stored.age < FRESH_SECONDS) return stored.payload as unknown as ClientMetadata;
    try {
      await takeFetch(pool, clientAddress);
      const client = readDocument(id, await askFor(egress, id));
      await records.put({ model: 'ClientDocument', id, payload: { ...client }, validSeconds: UNUSED_CLIENT_SECONDS });
      return client;
    } catch (error) {
      if (stored !== undefined && error instanceof errors.TemporarilyUnavailable) {
        return stored.payload as unknown as ClientMetadata;
      }
      throw error;
    }
  };
}

/** @throws errors.TemporarilyUnavailable */
async function takeFetch(pool: Pool, clientAddress: string): Promise<void> {
  const ofNetwork = { name: 'oauth:documents', maxUses: FETCHES_PER_NETWORK, seconds: FETCHES.seconds };
  const refused = await takeForNetworks(pool, ofNetwork, clientAddress, [FETCHES]);
  if (refused !== undefined) {
    throw away(`too many new programs come now${refused.limit === FETCHES ? '' : ' from this network'}`);
  }
}

/** Why a URL cannot name a document; undefined when it can. */
function idFault(id: string, allowPrivate: boolean): string | undefined {
  if (id.length > MAX_ID_LENGTH || !URL.canParse(id)) return 'is not a URL, or too long';
  const url = new URL(id);
  if (urlRefusal(url, allowPrivate) !== undefined) return 'must be a public https URL';
  // One spelling per document, so that the name shown to people is the address that is fetched.
  if (url.href !== id) return `must be written ${url.href.slice(0, MAX_ID_LENGTH)}`;
  if (url.pathname === '/' || url.hash !== '') return 'must have a path and no fragment';
  return undefined;
}

async function askFor(egress: EgressClient, id: string): Promise<string> {
  const answer = await egress.send({
    url: id,
    method: 'GET',
    headers: { Accept: 'application/json', 'User-Agent': 'service-oauth/1' },
    deadlineMs: DEADLINE_MS,
  });
  const fault = answerFault(answer);
  if (fault !== undefined) throw fault;
  return answer.error === null ? answer.bodyExcerpt : '';
}

function answerFault(answer: EgressResult): Error | undefined {
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
  const parsed = documentSchema.safeParse(document, { error: validationMessage });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new errors.InvalidClient(`The document at client_id: ${issue!.path.join('.') || 'it'}: ${issue!.message}`);
  }
  if (parsed.data.client_id !== id)
    throw new errors.InvalidClient('The document at client_id names another client_id.');
  const fault = metadataFault(parsed.data);
  if (fault !== undefined) throw new errors.InvalidClient(`The document at client_id: ${fault}`);
  return clientOf(id, parsed.data, { method: 'none' });
}
