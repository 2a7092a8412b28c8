import type { Candidate } from '../../schemas/candidate.ts';
import { newAccountId, newMonitorId } from '../../shared/domain/identifiers.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';

export interface MonitorSetup {
  status: string;
  version: number;
  /** ISO 8601. */
  activeSince: string;
  webhookUrl: string | null;
  /** Price in dollars of the account's pack. */
  pack: number;
}

/** Stores monitors as the API's create leaves them, all of one new account; active since ten minutes ago. */
export async function insertMonitors(
  db: Queryable,
  count: number,
  setup: Partial<MonitorSetup> = {},
): Promise<string[]> {
  const activeSince = setup.activeSince ?? new Date(Date.now() - 600_000).toISOString();
  const accountId = newAccountId();
  const ids = Array.from({ length: count }, newMonitorId);
  await db.query('INSERT INTO accounts (id, email, mailbox, pack) VALUES ($1, $1, $1, $2)', [
    accountId,
    setup.pack ?? 0,
  ]);
  await db.query(
    `INSERT INTO monitors (id, account_id, name, keywords, webhook_url, webhook_kind, webhook_secret, status, version,
       active_since, next_charge_at)
     SELECT id, $2, 'test', '{rust}', $3, CASE WHEN $3::text IS NOT NULL THEN 'generic' END, '', $4, $5, $6,
       service_now() + interval '1 day'
     FROM unnest($1::text[]) AS id`,
    [ids, accountId, setup.webhookUrl ?? null, setup.status ?? 'active', setup.version ?? 1, activeSince],
  );
  await db.query('INSERT INTO monitor_counters (monitor_id) SELECT unnest($1::text[])', [ids]);
  await db.query('INSERT INTO monitor_versions (monitor_id, version, since) SELECT unnest($1::text[]), $2, $3', [
    ids,
    setup.version ?? 1,
    activeSince,
  ]);
  return ids;
}

export interface CandidateSetup {
  monitorId: string;
  thingId: string;
  version?: number;
  terms?: string[];
  enteredAt?: string;
  createdUtc?: string;
  replay?: boolean;
  title?: string;
  body?: string;
}

/** A candidate as the matcher publishes it; by default of an item that entered just now. */
export function candidateOf(setup: CandidateSetup): Candidate {
  const now = new Date().toISOString();
  const isPost = setup.thingId.startsWith('t3_');
  return {
    v: 1,
    monitor_id: setup.monitorId,
    monitor_version: setup.version ?? 1,
    matched_terms: setup.terms ?? ['rust'],
    entered_at: setup.enteredAt ?? now,
    first_seen_at: setup.enteredAt ?? now,
    replay: setup.replay ?? false,
    item: {
      thing_id: setup.thingId,
      kind: isPost ? 'post' : 'comment',
      post_id: isPost ? setup.thingId.slice(3) : 'parent',
      parent_id: isPost ? null : 't3_parent',
      subreddit: 'metals',
      author: 'smith',
      title: setup.title ?? 'On rust',
      body: setup.body ?? 'Iron, water and air make rust.',
      permalink: `https://forum.example/r/metals/${setup.thingId}`,
      nsfw: false,
      created_utc: setup.createdUtc ?? setup.enteredAt ?? now,
    },
  };
}
