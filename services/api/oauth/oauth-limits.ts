import type { RequestHandler } from 'express';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { SlidingLogLimit } from '../../../shared/accounts/sliding-log-limits.ts';
import { takeUses } from '../../../shared/accounts/sliding-log-limits.ts';
import { ApiError } from '../http/api-error.ts';
import { networksOf } from '../signup/signup-limits.ts';
import { sendPage } from '../../../shared/http/page.ts';
import { errorPage } from './pages.ts';

export type OAuthLimit = 'authorization' | 'token' | 'registration' | 'link';

const MINUTE = 60;
const HOUR = 3_600;
const PER_NETWORK: Readonly<Record<OAuthLimit, Omit<SlidingLogLimit, 'name'>>> = {
  authorization: { maxUses: 60, seconds: MINUTE },
  token: { maxUses: 120, seconds: MINUTE },
  registration: { maxUses: 60, seconds: HOUR },
  link: { maxUses: 60, seconds: HOUR },
};
const REGISTRATIONS = { name: 'oauth:registration:total', maxUses: 500, seconds: HOUR };

/** Limits unauthenticated requests over all processes. Refuses with 429, in OAuth's format except for links. */
export function createOAuthLimits(pool: Pool): (kind: OAuthLimit) => RequestHandler {
  return (kind) => async (request, response, next) => {
    const total = kind === 'registration' ? [REGISTRATIONS] : [];
    const refused = await takeForNetworks(pool, { name: `oauth:${kind}`, ...PER_NETWORK[kind] }, request.ip, total);
    if (refused === undefined) {
      next();
      return;
    }
    const { retryAfter } = refused;
    const error_description = `Too many requests from this network. Try again in ${retryAfter} s.`;
    // The page of a link is not part of OAuth.
    if (kind === 'link') throw new ApiError('rate_limited', error_description, { retryAfter });
    response.set({ 'Retry-After': String(retryAfter), 'Cache-Control': 'no-store' });
    response.status(429);
    if (request.accepts(['json', 'html']) === 'html') sendPage(response, errorPage(error_description));
    else response.json({ error: 'temporarily_unavailable', error_description });
  };
}

/** Takes a use for each network of the client, of which larger ones have more, and a use of each `total`. */
export function takeForNetworks(
  pool: Pool,
  { name, maxUses, seconds }: SlidingLogLimit,
  clientAddress: string | undefined,
  total: readonly SlidingLogLimit[],
): ReturnType<typeof takeUses> {
  const ofNetworks = networksOf(clientAddress).map(({ network, times }) => ({
    name: `${name}:${network}`,
    maxUses: maxUses * times,
    seconds,
  }));
  return takeUses(pool, [...ofNetworks, ...total]);
}
