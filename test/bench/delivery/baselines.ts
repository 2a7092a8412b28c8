import { randomUUID } from 'node:crypto';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import { createSystemLookup } from '../../../shared/http/public-address.ts';
import { createEgressClient } from '../../../shared/http/egress-client.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { CallBatcher } from '../../../shared/runtime/call-batcher.ts';
import { claimDueMatches } from '../../../shared/deliveries/pending-deliveries.ts';
import type { ClaimedDelivery } from '../../../shared/deliveries/pending-deliveries.ts';
import { recordOutcomes } from '../../../shared/deliveries/delivery-outcomes.ts';
import { insertMatches, insertMonitors } from './matches.ts';

const AT_ONCE = 64;
const MONITORS = 50;
const MATCHES_EACH = 100;
const CLAIMED_AT_ONCE = 4;

/** Requests per second through the egress client to endpoints in turn, without claims or stored outcomes. */
export async function bareRequests(urls: readonly string[], count: number): Promise<number> {
  const egress = createEgressClient({
    allowPrivate: true,
    egressProxy: undefined,
    lookup: createSystemLookup(),
    clock: systemClock,
  });
  const body = Buffer.from(
    JSON.stringify({ match: { created_at: new Date().toISOString() }, filler: 'x'.repeat(900) }),
  );
  const headers = { 'content-type': 'application/json' };
  let next = 0;
  const send = async () => {
    while (next < count) {
      const url = urls[next++ % urls.length]!;
      await egress.send({ url, method: 'POST', headers, body, deadlineMs: 8_000 });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  next = 0;
  const started = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  await egress.close();
  return Math.round((count * 1000) / (performance.now() - started));
}

/**
 * Matches per second that are claimed and whose outcomes are stored, in the same groups as the deliverer, for 50
 * monitors at once, without requests.
 */
export async function claimsAndOutcomes(pool: Pool, secretBox: SecretBox): Promise<object> {
  const urls = Array.from({ length: MONITORS }, (_, i) => `http://127.0.0.1:9/${i}`);
  const monitorIds = await insertMonitors(pool, urls, secretBox);
  await insertMatches(pool, monitorIds, { firstSeq: 1, count: MATCHES_EACH, dueIn: '0 s', attempts: 0 });
  const claims = new CallBatcher<string, ClaimedDelivery[]>({
    async run(ids) {
      const claims = ids.map((monitorId) => ({ monitorId, limit: CLAIMED_AT_ONCE }));
      const claimed = await claimDueMatches(pool, claims, { token: randomUUID(), lengthMs: 20_000 });
      return ids.map((id) => claimed.filter(({ monitorId }) => monitorId === id));
    },
  });
  const outcomes = new CallBatcher({
    run: (attempts: Parameters<typeof recordOutcomes>[1]) => recordOutcomes(pool, attempts),
  });
  const started = performance.now();
  await Promise.all(
    monitorIds.map(async (monitorId) => {
      for (;;) {
        const claimed = await claims.call(monitorId);
        if (claimed.length === 0) return;
        await Promise.all(claimed.map((delivery) => outcomes.call(deliveredAtOnce(delivery))));
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  return { matches: MONITORS * MATCHES_EACH, per_second: Math.round((MONITORS * MATCHES_EACH) / seconds) };
}

function deliveredAtOnce({
  monitorId,
  seq,
  leaseToken,
  webhookUrl,
}: ClaimedDelivery): Parameters<typeof recordOutcomes>[1][number] {
  return {
    monitorId,
    seq,
    leaseToken,
    webhookKind: 'generic',
    isResent: false,
    webhookUrl,
    host: '127.0.0.1:9',
    durationMs: 1,
    httpStatus: 204,
    error: null,
    responseExcerpt: null,
    deliveryStatus: 'delivered',
    delayMs: null,
  };
}
