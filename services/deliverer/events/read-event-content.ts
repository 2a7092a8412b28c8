import type { Digest } from '../../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { matchResource } from '../../../shared/domain/match-resource.ts';
import type { EventContent } from '../../../shared/domain/webhooks/event-message.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { readDigestMatches } from '../../../shared/stores/digests/digest-matches.ts';
import type { ClaimedEvent, StoredDigest } from '../../../shared/stores/events/event-deliveries.ts';

const MAX_MATCHES = 100;
/** Matches are added until the body has about this size. A text has at most 40,000 characters. */
const MAX_BYTES = 1_000_000;
/** Their length tells how many more fit, so that little more than that is ever read, in two statements as a rule. */
const READ_FIRST = 20;

/** What an event says: the matches of a digest are read as they are now. */
export async function readEventContent(db: Queryable, event: ClaimedEvent): Promise<EventContent> {
  if (event.kind === 'monitor.spike') return { kind: event.kind, spike: event.payload };
  return { kind: event.kind, digest: await readDigest(db, event.monitorId, event.payload) };
}

async function readDigest(db: Queryable, monitorId: string, stored: StoredDigest): Promise<Digest> {
  const { period, until, count, url } = stored;
  const matches: MonitorMatch[] = [];
  let { after } = stored;
  let atOnce = READ_FIRST;
  for (let bytes = 0; bytes < MAX_BYTES && matches.length < MAX_MATCHES;) {
    const page = await readDigestMatches(db, { monitorId, after, until }, atOnce);
    for (const row of page) {
      const match = matchResource(monitorId, row);
      bytes += Buffer.byteLength(JSON.stringify(match));
      if (bytes > MAX_BYTES && matches.length > 0) break;
      matches.push(match);
    }
    if (page.length < atOnce) break;
    after = page.at(-1)!.seq;
    const fit = Math.ceil(((MAX_BYTES - bytes) * matches.length) / bytes);
    atOnce = Math.min(MAX_MATCHES - matches.length, fit);
  }
  return { interval: period, count, matches, more: Math.max(0, count - matches.length), url };
}
