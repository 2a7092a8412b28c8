import { parseEmailAddress } from '../../../shared/domain/accounts/email-address.ts';
import type { MonitorSettings } from '../../../shared/stores/monitors/monitors.ts';
import type { Fault } from '../http/api-error.ts';

/** Spikes are sent to the webhook only, so asking for them without one is a mistake of the client. */
export function spikeFaults(isAskedFor: boolean, { webhookUrl }: Pick<MonitorSettings, 'webhookUrl'>): Fault[] {
  return isAskedFor && webhookUrl === null ? [{ field: 'spike_webhook', message: 'needs a webhook_url' }] : [];
}

/**
 * A digest goes to the webhook or, without one, to the address of the account. The demo account has no address that
 * mail can be sent to, so its matches would be sent nowhere.
 */
export function digestFaults({ digest, webhookUrl }: MonitorSettings, email: string): Fault[] {
  if (digest === null || webhookUrl !== null || parseEmailAddress(email) !== undefined) return [];
  return [
    { field: 'digest', message: 'needs a webhook_url, because no mail can be sent to the address of the account' },
  ];
}
