import type { Stripe } from 'stripe';
import type { ServiceStatus } from '../../../schemas/api/status.ts';
import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import type { PaymentSettings } from '../../../shared/payments/stripe-client.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { LiveTails } from '../live-tail/live-tails.ts';
import type { SignupDeps } from '../signup/signup-deps.ts';
import type { CallApi } from './call-api.ts';

/** Collaborators of the dashboard. */
export interface DashboardDeps extends SignupDeps {
  /** The address that the server is bound to. */
  host: string;
  secretBox: SecretBox;
  clock: Clock;
  /** Default: packs cannot be bought. */
  payments?: { stripe: Stripe; settings: PaymentSettings } | undefined;
  /** Calls a route of the API. */
  callApi: CallApi;
  liveTails: LiveTails;
  /** The report of GET /status. */
  status: () => Promise<ServiceStatus>;
}
