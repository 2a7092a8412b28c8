import { newAccountId, newMonitorId } from '../../../shared/rules/identifiers.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import { newWebhookSecret } from '../../../shared/deliveries/rules/webhook-message.ts';
import type { Publisher } from '../../../shared/kafka/publisher.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { recordedMatch } from '../../support/samples/recorded-match.ts';

const BODY = 'Iron, water and air make rust; oil and paint keep it away. '.repeat(6);
const PUBLISHED_AT_ONCE = 1_000;

/** Stores one monitor per URL, each with its own secret. Returns their ids. */
export async function insertMonitors(pool: Pool, urls: readonly string[], secretBox: SecretBox): Promise<string[]> {
  const account = newAccountId();
  const ids = urls.map(() => newMonitorId());
  await pool.query('INSERT INTO accounts (id, email, mailbox) VALUES ($1, $1, $1)', [account]);
  await pool.query(
    `INSERT INTO monitors (id, account_id, name, keywords, webhook_url, webhook_kind, webhook_secret, active_since, next_charge_at)
     SELECT id, $1, 'metals', '{rust}', url, 'generic', secret, wall_now(), service_now() + interval '1 day'
     FROM unnest($2::text[], $3::text[], $4::bytea[]) AS new (id, url, secret)`,
    [account, ids, urls, ids.map((id) => secretBox.seal(newWebhookSecret(), id))],
  );
  return ids;
}

export interface MatchRange {
  /** Of each monitor. */
  firstSeq: number;
  count: number;
  /** When the poller may claim them, as an interval from now. */
  dueIn: string;
  /** The number of attempts already made. */
  attempts: number;
}

/** Pending matches of each of these monitors, as the recorder stores them. */
export async function insertMatches(pool: Pool, monitorIds: readonly string[], range: MatchRange): Promise<void> {
  const { firstSeq, count, dueIn, attempts } = range;
  await pool.query(
    `INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
     SELECT 't3_' || seq, 'post', seq::text, 'metals', 'smith', 'On rust', $3, 'https://forum.example/r/metals/comments/' || seq || '/',
       false, service_now(), service_now() + interval '33 days'
     FROM generate_series($1::int, $1::int + $2::int - 1) AS seq
     ON CONFLICT DO NOTHING`,
    [firstSeq, count, BODY],
  );
  await pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status, next_attempt_at, attempt, ladder_step)
     SELECT id, seq, 't3_' || seq, 'post', wall_now(), wall_now(), service_now(), '{rust}', false, 'pending', 'pending',
       service_now() + $4::interval, $5, $5
     FROM unnest($1::text[]) AS id CROSS JOIN generate_series($2::int, $2::int + $3::int - 1) AS seq`,
    [monitorIds, firstSeq, count, dueIn, attempts],
  );
}

/** Announces matches to the deliverer, with the monitors in turn, as the recorder does after its commit. */
export async function publishWakeUps(
  publisher: Publisher,
  monitorIds: readonly string[],
  { firstSeq, count }: Pick<MatchRange, 'firstSeq' | 'count'>,
): Promise<void> {
  const seqs = Array.from({ length: count }, (_, index) => firstSeq + index);
  const records = seqs.flatMap((seq) =>
    monitorIds.map((monitorId) => ({ key: monitorId, value: JSON.stringify(recordedMatch(monitorId, seq, BODY)) })),
  );
  for (let from = 0; from < records.length; from += PUBLISHED_AT_ONCE) {
    await publisher.publish(MONITOR_MATCHES.name, records.slice(from, from + PUBLISHED_AT_ONCE));
  }
}
