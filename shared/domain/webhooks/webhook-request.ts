import { signatureHeaders } from './webhook-signature.ts';
import type { SigningSecret } from './webhook-signature.ts';

export interface WebhookMessage {
  headers: Record<string, string>;
  body: Buffer;
}

const COMMON_HEADERS = { 'Content-Type': 'application/json', 'User-Agent': 'service-webhooks/1' };

/**
 * The request with a JSON event for a generic endpoint.
 *
 * @param id by which receivers tell repeated deliveries
 * @param sentAt Unix seconds
 * @param secrets the current one first; see signatureHeaders
 */
export function signedRequest(
  event: object,
  { id, sentAt, secrets }: { id: string; sentAt: number; secrets: readonly [SigningSecret, ...SigningSecret[]] },
): WebhookMessage {
  const body = Buffer.from(JSON.stringify(event));
  const headers = {
    ...COMMON_HEADERS,
    'X-Service-Delivery': id,
    ...signatureHeaders({ id, body, sentAt, secrets }),
  };
  return { headers, body };
}

/** The request with a message for a chat product. */
export function chatRequest(content: Record<string, unknown>): WebhookMessage {
  return { headers: COMMON_HEADERS, body: Buffer.from(JSON.stringify(content)) };
}
