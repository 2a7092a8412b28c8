import { Stripe } from 'stripe';
import type { Config } from '../runtime/config.ts';

/** The settings of payments, when they are on. */
export type PaymentSettings = NonNullable<Config['payments']>;

/**
 * The version that the requests and answers of this service are written for. An upgrade of the package may bring
 * another default; this one changes only together with the code.
 */
const API_VERSION = '2026-10-28.endive';
/** A person waits for the checkout. */
const TIMEOUT_MS = 8_000;
/** Each with Stripe's own back-off, and the same idempotency key. */
const RETRIES = 1;

/** The official client, for the host of the settings. It opens no connection before its first call. */
export function createStripe({ secretKey, apiUrl }: Pick<PaymentSettings, 'secretKey' | 'apiUrl'>): Stripe {
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(apiUrl === undefined ? {} : addressOf(new URL(apiUrl))),
  });
}

function addressOf({ protocol, hostname, port }: URL): { protocol: 'http' | 'https'; host: string; port: string } {
  const isPlain = protocol === 'http:';
  return { protocol: isPlain ? 'http' : 'https', host: hostname, port: port === '' ? (isPlain ? '80' : '443') : port };
}
