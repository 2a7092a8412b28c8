import type { Config } from '../../shared/runtime/config.ts';
import { isLoopback } from '../../shared/http/public-address.ts';
import { urlOf } from '../../shared/runtime/operations-server.ts';
import { persistedSecret } from './engines/engine.ts';

/**
 * Packs can be bought with trial money only where nobody else can reach the installation, with the simulated forum, on
 * its own database, and without a key of the provider; not with PORT=0, since the simulator must know the port before.
 */
export function offersTrialPayments({ http, payments, upstream, postgresUrl }: Config): boolean {
  const isLocal = payments === undefined && upstream.clients === undefined && postgresUrl === undefined;
  return isLocal && isLoopback(http.host) && http.port !== 0;
}

/** What the payment simulator and the services share; kept, so that purchases can be settled after a restart. */
function trialSecrets(dataDir: string) {
  return {
    key: `sk_test_${persistedSecret(dataDir, 'trial-payments-key')}`,
    secret: `whsec_${persistedSecret(dataDir, 'trial-payments-webhook')}`,
  };
}

export function paymentSimulatorEnvironment(config: Config): Record<string, string> {
  const { key, secret } = trialSecrets(config.dataDir);
  return {
    SIMULATOR_PAYMENTS_KEY: key,
    SIMULATOR_PAYMENTS_SECRET: secret,
    SIMULATOR_PAYMENTS_WEBHOOK: `${urlOf(config.http.host, config.http.port)}/stripe/webhook`,
  };
}

/** The variables that make the payment simulator the payment provider of the services. */
export function trialPaymentsEnvironment(dataDir: string, simulatorUrl: string): Record<string, string> {
  const { key, secret } = trialSecrets(dataDir);
  return {
    STRIPE_SECRET_KEY: key,
    STRIPE_WEBHOOK_SECRET: secret,
    STRIPE_API_URL: simulatorUrl,
    // It knows no prices and no taxes.
    STRIPE_PRICE_9: '',
    STRIPE_PRICE_29: '',
    STRIPE_PRICE_79: '',
    STRIPE_AUTOMATIC_TAX: '',
    FORUM_SIMULATED: 'forum,payments',
  };
}
