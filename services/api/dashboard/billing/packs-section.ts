import { PACKS_FOR_SALE } from '../../../../shared/domain/accounts/packs-for-sale.ts';
import type { PackForSale } from '../../../../shared/domain/accounts/packs-for-sale.ts';
import { planOf } from '../../../../shared/domain/accounts/plans.ts';
import type { PaymentSettings } from '../../../../shared/payments/stripe-client.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import type { Visit } from '../page-route.ts';
import { postButton } from '../parts/post-button.ts';

/** The packs, each with a button that leads to the checkout; or that buying is off. */
export function packsSection(visit: Visit, settings: Pick<PaymentSettings, 'mode'> | undefined): Html {
  return html`<section>
    <h2>Buy credits</h2>
    ${introduction(settings?.mode)}
    <ul class="figures">
      ${PACKS_FOR_SALE.map((pack) => packOf(visit, pack, settings !== undefined))}
    </ul>
  </section>`;
}

function introduction(mode: PaymentSettings['mode'] | undefined): HtmlValue {
  if (mode === undefined) {
    return html`<p class="notice">Buying is off here: whoever runs this service has not set up payments.</p>`;
  }
  return [
    mode !== 'live' &&
      html`<p class="notice">
        <strong>Trial without money.</strong> No money is charged, and what is bought is taken back when real payments
        begin.
      </p>`,
    html`<p>
      Credits do not expire. The largest pack decides your limits, and they stay after its credits are spent.
    </p>`,
  ];
}

function packOf(visit: Visit, { pack, credits }: PackForSale, canBuy: boolean): Html {
  const plan = planOf(pack);
  return html`<li>
    <h3>$${pack}</h3>
    <p><strong>${credits.toLocaleString('en')} credits</strong></p>
    <ul>
      <li>${plan.monitors} monitors</li>
      <li>${plan.requestsPerSecond} requests a second</li>
      <li>${plan.dailyMatchCap.toLocaleString('en')} matches a monitor and day</li>
    </ul>
    ${
      canBuy && postButton(visit, { action: '/billing/buy', label: `Buy for $${pack}`, fields: { pack: String(pack) } })
    }
  </li>`;
}
