import { ApiError } from '../http/api-error.ts';
import type { Route } from '../http/route.ts';

const MENDED_BY_A_PACK: ReadonlySet<string> = new Set(['insufficient_credits', 'monitor_limit_reached']);

/**
 * The routes, with refusals that a pack would mend saying where a person buys one: an agent without credits can then
 * tell its owner where to go.
 */
export function namingWhereToBuy(routes: readonly Route[], dashboardUrl: string): Route[] {
  const sentence = ` Packs are sold at ${dashboardUrl}/dashboard/billing.`;
  return routes.map((route) => ({
    ...route,
    async handle(call) {
      try {
        return await route.handle(call);
      } catch (error) {
        if (!(error instanceof ApiError) || !MENDED_BY_A_PACK.has(error.code)) throw error;
        throw new ApiError(error.code, error.message + sentence, { headers: error.headers });
      }
    },
  }));
}
