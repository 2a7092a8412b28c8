import type { WebhookKind } from '../../../schemas/api/monitor.ts';
import { detectWebhookKind, fitsWebhookKind } from '../../../shared/domain/webhooks/webhook-kind.ts';
import { webhookUrlFault } from '../../../shared/domain/webhooks/webhook-url.ts';
import { checkPublicUrl } from '../../../shared/http/public-address.ts';
import type { PublicUrlOptions } from '../../../shared/http/public-address.ts';
import type { Fault } from '../http/invalid-request.ts';

/** Where a monitor's matches go; both null when they go nowhere. */
export interface Webhook {
  webhook_url: string | null;
  webhook_kind: WebhookKind | null;
}

/** What a client says about it: absent leaves as is; a null or empty URL removes; a null kind means detection. */
export interface WebhookChange {
  webhook_url?: string | null | undefined;
  webhook_kind?: WebhookKind | null | undefined;
}

/** What is wrong with a URL that a client sent. May look the host up, so it is called outside of transactions. */
export async function checkWebhookUrl(url: string | null | undefined, options: PublicUrlOptions): Promise<Fault[]> {
  if (url === undefined || url === null || url === '') return [];
  const fault = webhookUrlFault(url, options.allowPrivate);
  if (fault !== undefined) return [{ field: 'webhook_url', message: fault }];
  const checked = await checkPublicUrl(url, options);
  if (checked.ok) return [];
  if (checked.reason === 'port') return [{ field: 'webhook_url', message: 'must not name a port of another protocol' }];
  // The addresses found are not named: an internal name server's answers are nobody's business.
  return [{ field: 'webhook_url', message: 'must lead to an address on the public Internet' }];
}

/**
 * The webhook after a change, or what is wrong with the change. A kind that is not given is detected from a new URL;
 * beside an unchanged URL the kind stays.
 */
export function changedWebhook(current: Webhook, change: WebhookChange): { webhook: Webhook } | { fault: Fault } {
  const url = change.webhook_url === undefined ? current.webhook_url : change.webhook_url || null;
  if (url === null) {
    return change.webhook_kind
      ? { fault: { field: 'webhook_kind', message: 'needs a webhook_url' } }
      : { webhook: { webhook_url: null, webhook_kind: null } };
  }
  const keeps = change.webhook_kind === undefined && url === current.webhook_url;
  const kind = keeps ? current.webhook_kind : change.webhook_kind;
  const parsed = new URL(url);
  if (kind && !fitsWebhookKind(parsed, kind)) {
    return { fault: { field: 'webhook_kind', message: `the URL is one of ${detectWebhookKind(parsed)}, not ${kind}` } };
  }
  return { webhook: { webhook_url: url, webhook_kind: kind ?? detectWebhookKind(parsed) } };
}
