import { createHash } from 'node:crypto';
import { html, trustedHtml } from '../../../shared/html/html.ts';
import type { HtmlValue } from '../../../shared/html/html.ts';
import type { Answer } from '../http/answer.ts';
import type { TrialSession } from './trial-session.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 28rem; padding: 0 1rem; overflow-wrap: anywhere; }
.banner { background: #7a4a00; border-radius: 0.25rem; color: #fff; font-weight: 700; padding: 0.5rem 0.75rem; }
.amount { font-size: 2rem; font-weight: 700; margin: 0.5rem 0; }
button { border: 1px solid; border-radius: 0.25rem; cursor: pointer; font: inherit; font-weight: 600; padding: 0.5rem 1rem; width: 100%; }
form { margin: 0.75rem 0; }
:focus-visible { outline: 3px solid; outline-offset: 2px; }
`;
/** The hash in the policy covers the text between the tags exactly. */
const STYLE_ELEMENT = trustedHtml(`<style>${STYLE}</style>`);
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** The page of a session: to pay or cancel while it is open, to refund once it is paid. Works without scripts. */
export function checkoutPage(session: TrialSession): Answer {
  const { id, amount_total: amount, currency, customer_email: email, success_url: back, status } = session;
  const action = (name: string) => `/checkout/${id}/${name}`;
  const price = `${(amount / 100).toFixed(2)} ${currency.toUpperCase()}`;
  const content =
    status === 'open'
      ? html`<p>${email === null ? '' : `For ${email}. `}Nothing is charged: this page stands in for Stripe’s.</p>
          <form method="post" action="${action('pay')}"><button>Pay ${price} of trial money</button></form>
          <form method="post" action="${action('cancel')}"><button>Cancel</button></form>`
      : html`<p>This trial purchase is paid. <a href="${back}">Back to the shop</a></p>
          <form method="post" action="${action('refund')}">
            <button>Refund it, to see what a refund does</button>
          </form>`;
  return trialPage(
    200,
    'Trial checkout',
    html`<p class="amount">${price}</p>
      ${content}`,
    session,
  );
}

/** A page of the simulated checkout, for a person. */
export function trialPage(status: number, title: string, content: HtmlValue, session?: TrialSession): Answer {
  const body = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <p class="banner">Trial without money</p>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
  return { status, body: String(body), headers: securityHeaders(session) };
}

function securityHeaders(session: TrialSession | undefined): Record<string, string> {
  // A form's answer leads back to the shop, which counts as a target of the form.
  const targets =
    session === undefined ? [] : [session.success_url, session.cancel_url].map((to) => new URL(to).origin);
  return {
    'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' ${[...new Set(targets)].join(' ')}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}
