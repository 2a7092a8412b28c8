import type { AccountCreated } from '../../../schemas/api/signup.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../shared/domain/accounts/credits.ts';
import { planOf } from '../../../shared/domain/accounts/plans.ts';
import type { FreeCredits } from './free-credits.ts';

const NO_PACK = 0;

/** The answer to a right code: the key, and what an agent needs to know to continue. */
export function accountCreated(
  apiKey: string,
  freeCredits: FreeCredits,
  { baseUrl, dashboardUrl }: { baseUrl: string; dashboardUrl: string },
): AccountCreated {
  const { requestsPerSecond, requestsPerDay } = planOf(NO_PACK);
  const { credits } = freeCredits;
  // Free operations work without credits too.
  const example = credits > 0 ? '/v1/forum/search?q=coffee&limit=3' : '/v1/account';
  return {
    status: 'account_created',
    api_key: apiKey,
    credits,
    limits: { requests_per_second: requestsPerSecond, requests_per_day: requestsPerDay! },
    next: 'Store api_key where secrets are kept, and send it as "Authorization: Bearer <API_KEY>" with every request to /v1.',
    example_request: `curl -s -H 'Authorization: Bearer <API_KEY>' '${baseUrl}${example}'`,
    docs: `${baseUrl}/docs`,
    notes: [
      'api_key is shown this once: keep it secret, and out of chat transcripts and logs.',
      ...('reason' in freeCredits ? [freeCredits.reason] : []),
      `Reading the forum costs 1 credit a call, a running monitor ${MONITOR_PERIOD_CREDITS} credits every 24 hours.`,
      `The owner of the mailbox sees monitors, keys and credits, and buys packs, at ${dashboardUrl}/dashboard: sign in with the same address.`,
      'Free of charge: matches of monitors, pausing and deleting monitors, the account, and every request that fails.',
    ].join(' '),
  };
}
