import type { WantedCheckout } from '../../../../shared/payments/start-checkout.ts';
import type { Visit } from '../page-route.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/;

/**
 * Where the checkout leads back to: the public address. On a developer's machine it is the host that the browser asked
 * for, because a session at 127.0.0.1 is none at localhost.
 */
export function returnUrls(visit: Pick<Visit, 'host' | 'path'>, dashboardUrl: string): WantedCheckout['returnUrls'] {
  const { protocol, host: publicHost } = new URL(dashboardUrl);
  const isLocal = LOOPBACK.test(publicHost) && LOOPBACK.test(visit.host);
  const page = `${protocol}//${isLocal ? visit.host : publicHost}${visit.path('/billing')}`;
  return (paymentId) => ({ bought: `${page}?bought=${paymentId}`, cancelled: `${page}?cancelled=1` });
}
