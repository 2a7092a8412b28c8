import { newAccountId, newMonitorId } from '../../../shared/domain/identifiers.ts';
import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import { newWebhookSecret } from '../../../shared/domain/webhooks/webhook-secret.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';

export interface DueMonitors {
  accounts: number;
  /** Matches of each of their monitors in the hour. */
  matches: number;
  /** Every second account's monitor has one of these webhooks; the others are mailed. */
  webhookUrls: readonly string[];
}

const BODY = 'Iron, water and air make rust; oil and paint keep it away. '.repeat(6);

/** Stores accounts with a monitor each, whose hourly digest is due now. */
export async function insertDueMonitors(
  pool: Pool,
  secretBox: SecretBox,
  { accounts, matches, webhookUrls }: DueMonitors,
): Promise<void> {
  const accountIds = Array.from({ length: accounts }, newAccountId);
  const ids = Array.from({ length: accounts }, newMonitorId);
  const urls = ids.map((id, index) =>
    index % 2 === 0 ? `${webhookUrls[(index / 2) % webhookUrls.length]!}${id}` : null,
  );
  const secrets = ids.map((id) => secretBox.seal(newWebhookSecret(), id));
  await pool.query(
    `INSERT INTO accounts (id, email, mailbox, pack, balance)
     SELECT id, id || '@example.com', id || '@example.com', 79, 1000 FROM unnest($1::text[]) AS id`,
    [accountIds],
  );
  await pool.query(
    `INSERT INTO monitors (id, account_id, name, keywords, webhook_url, webhook_kind, webhook_secret, status, active_since,
       next_charge_at, digest)
     SELECT id, account, 'Everything about rust', '{rust}', url, CASE WHEN url IS NOT NULL THEN 'generic' END, secret,
       'active', wall_now() - interval '1 day', service_now() + interval '1 day', 'hourly'
     FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) AS given (id, account, url, secret)`,
    [ids, accountIds, urls, secrets],
  );
  await pool.query('INSERT INTO monitor_counters (monitor_id, last_seq) SELECT unnest($1::text[]), $2', [ids, matches]);
  const things = accounts * matches;
  await pool.query(
    `INSERT INTO matched_items (thing_id, kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw,
       created_utc, kept_until)
     SELECT 't1_' || n, 'comment', 'p' || n % 1000, 't3_p', 'metals', 'smith', 'On rust', $2,
       'https://forum.example/r/metals/' || n, false, service_now(), service_now() + interval '33 days'
     FROM generate_series(0, $1::int - 1) AS n`,
    [things, BODY],
  );
  await pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT id, seq, 't1_' || ((place - 1) * $2 + seq - 1), 'comment', service_now(), service_now(), service_now(),
       '{rust}', false, 'none', 'none'
     FROM unnest($1::text[]) WITH ORDINALITY AS given (id, place), generate_series(1, $2::int) AS seq`,
    [ids, matches],
  );
  await pool.query('UPDATE monitor_digests SET after_seq = 0, due_at = service_now()');
  for (const table of ['accounts', 'monitors', 'monitor_counters', 'monitor_digests', 'matches', 'matched_items']) {
    await pool.query(`VACUUM (ANALYZE) ${table}`);
  }
}
