import type { Receipt } from '../../../../shared/stores/payments/receipts.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import { time } from '../parts/time.ts';

/** What was bought, and what became of it. */
export function receiptsSection(receipts: readonly Receipt[]): Html {
  return html`<section>
    <h2 id="receipts">Receipts</h2>
    ${receipts.length === 0 ? html`<p>You have bought nothing yet.</p>` : receiptsTable(receipts)}
  </section>`;
}

function receiptsTable(receipts: readonly Receipt[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="receipts">
    <table>
      <caption class="hidden">
        Receipts
      </caption>
      <thead>
        <tr>
          <th scope="col">Paid</th>
          <th scope="col" class="number">Price</th>
          <th scope="col" class="number">Credits</th>
          <th scope="col">State</th>
          <th scope="col">Reference</th>
        </tr>
      </thead>
      <tbody>
        ${receipts.map(
          (receipt) =>
            html`<tr>
              <td>${time(receipt.paidAt)}</td>
              <td class="number">${priceOf(receipt)}</td>
              <td class="number">${receipt.credits.toLocaleString('en')}</td>
              <td>${stateOf(receipt)}</td>
              <td><code>${receipt.id}</code></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function priceOf({ amount, currency }: Receipt): string {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount / 100);
}

/** In words. */
export function stateOf({ status, mode, credits, takenBack }: Receipt): string {
  const trial = mode === 'live' ? '' : ', without money';
  if (status === 'voided') return `Taken back: it was a trial${trial}`;
  if (takenBack >= credits) return `Refunded or disputed${trial}`;
  if (takenBack > 0) return `Refunded in part: ${takenBack.toLocaleString('en')} credits taken back${trial}`;
  return `Paid${trial}`;
}
