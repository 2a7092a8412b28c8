import type { Monitor, MonitorMute, ParsedQuery } from '../../../../schemas/api/monitors.ts';
import type { MatchPage, MonitorMatch } from '../../../../schemas/messages/monitor-match.ts';
import { matchEvent, STREAM_BEGIN } from '../../matches/live-tails.ts';
import { parseQuery, ruleSettingsResource } from '../../monitors/check-settings.ts';
import { SUPPRESSED_PER_DAY } from '../../../../shared/matches/rules/match-decision.ts';
import { ruleWarnings } from '../../monitors/rule-warnings.ts';

const monitor: Monitor = {
  id: 'mon_3k7m2q9x4t8v',
  name: 'Grinders',
  keywords: ['burr grinder', 'コーヒーミル'],
  exclude: ['giveaway'],
  subreddits: ['Coffee', 'espresso'],
  include_posts: true,
  include_comments: true,
  nsfw: false,
  webhook_url: 'https://example.com/hooks/forum',
  webhook_kind: 'generic',
  status: 'active',
  webhook_failing: false,
  next_charge_at: '2026-03-05T10:00:00.000Z',
  last_match_at: '2026-03-04T10:21:07.412Z',
  created_at: '2026-03-04T10:00:00.000Z',
  updated_at: '2026-03-04T10:00:00.000Z',
};

const doubtfulMonitor: Monitor = {
  ...monitor,
  keywords: ['how', 'grind*', 'giveaway today'],
  subreddits: [],
  last_match_at: null,
};

/** Conditions that most monitors do not have. */
const CONDITIONS = {
  keywords: ['coffee'],
  terms: [
    { text: 'grind', prefix: true, in: ['title' as const] },
    { text: 'EK43', case_sensitive: true },
  ],
  require: [['hiring', 'job', { text: 'recruit', prefix: true }]],
  exclude_subreddits: ['CoffeeSwap'],
  exclude_authors: ['AutoModerator'],
  languages: ['en', 'de'],
  thread_once: true,
};

const EVERYWHERE = { subreddits: [], posts: true, comments: true, nsfw: false };

const match: MonitorMatch = {
  id: 'mat_3k7m2q9x4t8v_000000000042',
  monitor_id: monitor.id,
  thing_id: 't1_k2cd41z',
  kind: 'comment',
  subreddit: 'Coffee',
  author: 'slow_drip',
  title: 'How fine do you grind for a French press?',
  body: 'Get a burr grinder first.',
  permalink: 'https://www.reddit.com/r/Coffee/comments/1b6xk0p/how_fine_do_you_grind_for_a_french_press/k2cd41z/',
  post_id: '1b6xk0p',
  created_utc: '2026-03-04T10:21:01.000Z',
  matched_terms: ['burr grinder'],
  suppressed: false,
  delivery_status: 'delivered',
  created_at: '2026-03-04T10:21:07.412Z',
  delivered_at: '2026-03-04T10:21:07.803Z',
};

const page: MatchPage = { items: [match], after: match.id, before: null };

const QUERY = 'rust OR "memory safety" OR title:hiring* sub:-rustjerk author:-automod';

function parsed(query: string): ParsedQuery {
  const read = parseQuery(query);
  if ('refusal' in read) throw new Error(read.refusal.message);
  return { settings: ruleSettingsResource(read.settings) };
}

/** Requests and answers of the monitor routes, invented. */
export const monitorExamples = {
  createBody: {
    name: 'Grinders',
    keywords: ['burr grinder', 'コーヒーミル'],
    exclude: ['giveaway'],
    subreddits: ['r/Coffee', 'espresso'],
    webhook_url: 'https://example.com/hooks/forum',
  },
  conditionsBody: { name: 'Coffee jobs', ...CONDITIONS },
  createdWithConditions: {
    monitor: { ...monitor, name: 'Coffee jobs', exclude: [], subreddits: [], ...CONDITIONS, last_match_at: null },
    webhook_secret: 'whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU=',
  },
  newConditions: { match_in: ['title', 'post_title'], authors: ['r_editor'], languages: null },
  watchEverywhere: { name: 'My product', keywords: ['my product'] },
  query: { query: QUERY },
  parsedQuery: parsed(QUERY),
  newKeywords: { keywords: ['burr grinder', 'hand grinder'] },
  noWebhook: { webhook_url: null },
  created: {
    monitor: { ...monitor, last_match_at: null },
    webhook_secret: 'whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU=',
  },
  createdDoubtful: {
    monitor: doubtfulMonitor,
    webhook_secret: 'whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU=',
    warnings: ruleWarnings(
      { keywords: doubtfulMonitor.keywords, exclude: doubtfulMonitor.exclude, ...EVERYWHERE },
      { sample: [], suppressedPerDay: SUPPRESSED_PER_DAY },
    ),
  },
  list: { items: [monitor], limit: 10, used: 1, daily_match_cap: 1_000 },
  withStats: {
    monitor,
    stats: {
      matches_today: 42,
      suppressed_today: 0,
      suppressed_not_stored: 0,
      matches_7d: 42,
      delivery_failures_24h: 0,
      last_match_at: monitor.last_match_at,
    },
    delivery: {
      state: 'retrying',
      pending: 3,
      oldest_pending_at: '2026-03-04T10:19:40.233Z',
      last_status: 503,
      last_error: 'http_status',
      last_attempt_at: '2026-03-04T10:21:07.501Z',
      last_delivered_at: '2026-03-04T10:18:02.120Z',
      attempt_failures_24h: 5,
    },
  },
  monitor: { monitor },
  page,
  stream: STREAM_BEGIN + matchEvent(match),
  id: monitor.id,
};

/** The `:id` of routes about one monitor. */
export const MONITOR_ID = { description: 'Id of a monitor, `mon_…`.', example: monitor.id };

const mute: MonitorMute = {
  id: 'mute_7h2n4x9b3c6d',
  kind: 'author',
  value: 'daily_deals_bot',
  created_at: '2026-03-04T10:30:00.000Z',
};

/** Requests and answers of the routes about mutes, invented. */
export const muteExamples = {
  id: mute.id,
  author: { kind: 'author', value: 'u/daily_deals_bot' },
  thread: { kind: 'thread', value: 'https://www.reddit.com/r/Coffee/comments/1b6xk0p/' },
  mute: { mute },
  list: {
    items: [mute, { ...mute, id: 'mute_8k3p5y0c4d7e', kind: 'subreddit', value: 'coffeeswap' }],
    limit: 500,
  },
};

/** The files that have the one match of the example page. */
export const FILE_EXAMPLES = {
  csv: `id,monitor_id,created_at\r\n${match.id},${match.monitor_id},${match.created_at}\r\n`,
  ndjson: `${JSON.stringify(match)}\n`,
};
