import type { WebhookKind } from '../../../schemas/api/monitors.ts';
import { detectWebhookKind, fitsWebhookKind, webhookUrlFault } from '../../../shared/deliveries/rules/webhook-url.ts';
import { checkPublicUrl } from '../../../shared/http/public-address.ts';
import type { PublicUrlOptions } from '../../../shared/http/public-address.ts';
import type { Fault } from '../http/api-error.ts';

/** Where the monitor's matches are sent; both null without a webhook. */
export interface Webhook {
  webhookUrl: string | null;
  webhookKind: WebhookKind | null;
}

/**
 * The webhook fields of a request: absent keeps the value, a null or empty URL removes the webhook, a null kind means
 * detection.
 */
export interface WebhookChange {
  webhook_url?: string | null | undefined;
  webhook_kind?: WebhookKind | null | undefined;
}

/** Returns what is wrong with a URL from a client as it is written. */
export function writtenUrlFaults(url: string | null | undefined, { allowPrivate }: PublicUrlOptions): Fault[] {
  if (url === undefined || url === null || url === '') return [];
  const fault = webhookUrlFault(url, allowPrivate);
  return fault === undefined ? [] : [{ field: 'webhook_url', message: fault }];
}

/** Returns what is wrong with a URL from a client. May resolve the host, so call it outside of transactions. */
export async function checkWebhookUrl(url: string | null | undefined, options: PublicUrlOptions): Promise<Fault[]> {
  if (url === undefined || url === null || url === '') return [];
  const faults = writtenUrlFaults(url, options);
  if (faults.length > 0) return faults;
  const checked = await checkPublicUrl(url, options);
  if (checked.ok) return [];
  if (checked.reason === 'port') return [{ field: 'webhook_url', message: 'must not name a port of another protocol' }];
  // The message does not name the addresses found: it must not reveal the answers of an internal name server.
  return [{ field: 'webhook_url', message: 'must lead to an address on the public Internet' }];
}

/**
 * The webhook after a change, or what is wrong with the change. Without a kind, a new URL gets a detected kind and an
 * unchanged URL keeps its kind.
 */
export function changedWebhook(current: Webhook, change: WebhookChange): { webhook: Webhook } | { fault: Fault } {
  const url = change.webhook_url === undefined ? current.webhookUrl : change.webhook_url || null;
  if (url === null) {
    return change.webhook_kind
      ? { fault: { field: 'webhook_kind', message: 'needs a webhook_url' } }
      : { webhook: { webhookUrl: null, webhookKind: null } };
  }
  const keeps = change.webhook_kind === undefined && url === current.webhookUrl;
  const kind = keeps ? current.webhookKind : change.webhook_kind;
  const parsed = new URL(url);
  if (kind && !fitsWebhookKind(parsed, kind)) {
    return { fault: { field: 'webhook_kind', message: `the URL is one of ${detectWebhookKind(parsed)}, not ${kind}` } };
  }
  return { webhook: { webhookUrl: url, webhookKind: kind ?? detectWebhookKind(parsed) } };
}
