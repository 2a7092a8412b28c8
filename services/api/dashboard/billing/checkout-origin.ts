import type { PaymentSettings } from '../../../../shared/payments/stripe-client.ts';

/** Where checkout pages are, as a source for the policy of the page whose form leads there. */
export function checkoutOrigin({ apiUrl }: Pick<PaymentSettings, 'apiUrl'>): string {
  return apiUrl === undefined ? 'https://checkout.stripe.com' : new URL(apiUrl).origin;
}
