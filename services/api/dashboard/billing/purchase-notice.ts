import type { StoredPayment } from '../../../../shared/stores/payments/payments.ts';
import { html } from '../../../../shared/html/html.ts';
import type { HtmlValue } from '../../../../shared/html/html.ts';

/** What the page says after a checkout; nothing when there was none. */
export function purchaseNotice(payment: StoredPayment | undefined, isCancelled: boolean): HtmlValue {
  if (payment !== undefined) return outcomeOf(payment);
  return isCancelled && html`<p class="notice">You left the checkout. Nothing was charged.</p>`;
}

function outcomeOf({ id, status, credits }: StoredPayment): HtmlValue {
  const added = credits.toLocaleString('en');
  if (status === 'paid') return html`<p class="notice good" role="status">${added} credits were added.</p>`;
  if (status === 'started') {
    return html`<p class="notice" role="status">
      Your payment is on its way: ${added} credits arrive as soon as it is confirmed, usually in a moment. A bank
      transfer takes days. You can close this page. Its reference is <code>${id}</code>.
    </p>`;
  }
  return html`<p class="notice bad" role="status">
    This payment did not go through, and nothing was credited. Its reference is <code>${id}</code>.
  </p>`;
}
