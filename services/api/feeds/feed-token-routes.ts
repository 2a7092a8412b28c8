import type { FeedAddresses } from '../../../schemas/api/matches/feed.ts';
import { hashFeedToken, newFeedToken } from '../../../shared/domain/feed-token.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { deleteFeedToken, putFeedToken } from '../../../shared/stores/feeds/feed-tokens.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { findAndLockMonitor } from '../monitors/find-monitor.ts';

interface FeedTokenDeps {
  pool: Pool;
  /** Where clients reach the API, without a trailing slash. */
  baseUrl: string;
}

/**
 * The address of a monitor's feed, which works without a key. It is changed under the monitor's lock, so that a monitor
 * that is deleted has none.
 */
export function feedTokenRoutes(deps: FeedTokenDeps): Route[] {
  const path = '/v1/monitors/:id/feed-token';
  return [
    { method: 'post', path, scope: 'monitors:write', handle: (call) => replace(deps, call) },
    { method: 'delete', path, scope: 'monitors:write', handle: (call) => revoke(deps, call) },
  ];
}

async function replace({ pool, baseUrl }: FeedTokenDeps, { caller, id }: Call): Promise<Answer> {
  const token = newFeedToken();
  await inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    await putFeedToken(client, id, hashFeedToken(token));
  });
  const body: FeedAddresses = {
    atom_url: `${baseUrl}/feeds/${token}.atom`,
    json_url: `${baseUrl}/feeds/${token}.json`,
  };
  // The addresses are shown only this once.
  return { status: 201, body, headers: { 'Cache-Control': 'no-store' } };
}

async function revoke({ pool }: FeedTokenDeps, { caller, id }: Call): Promise<Answer> {
  await inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    await deleteFeedToken(client, id);
  });
  return { status: 200, body: { status: 'revoked' } };
}
