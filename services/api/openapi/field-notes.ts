import { coverageNotes } from './coverage-notes.ts';
import { forumNotes } from './forum-notes.ts';
import { previewNotes } from './preview-notes.ts';
import type { JsonSchema } from './openapi-shape.ts';
import { trendNotes } from './trend-notes.ts';

const TERMS = { items: { minLength: 1, maxLength: 100 }, maxItems: 20 };

const keywords = {
  ...TERMS,
  description:
    'An item matches when it contains one of these. They match whole words in any case; several words form a phrase; Chinese, Japanese and Korean terms match anywhere. Each has two or more characters or is one emoji. At least one, unless there are `terms`.',
};
const exclude = { ...TERMS, description: 'An item that contains one of these does not match.' };
const subreddits = {
  maxItems: 50,
  description: 'Communities to watch, with or without `r/`; empty: the whole forum.',
};
const webhookUrl = 'Where matches are sent: an `https://` URL with a public address.';
const webhookKind = 'The kind of webhook; detected from the URL when absent.';
const warnings = 'What the rule may not mean, or why it cannot match; absent when there is nothing to point out.';
const webhookSecret = 'Signs deliveries to generic webhooks. Shown only this once.';

const monitorBody = {
  name: 'A name of your choice.',
  posts: 'Whether posts are matched, by title and text.',
  comments: 'Whether comments are matched, by text.',
  include_posts: 'The same as `posts`, by the name that answers have. When both are sent, they must be equal.',
  include_comments: 'The same as `comments`, by the name that answers have. When both are sent, they must be equal.',
  nsfw: 'Whether NSFW items can match.',
};

/**
 * What a schema cannot express about its fields, by component and field: a description, or a fragment of JSON Schema
 * for constraints that the service checks itself.
 */
export const fieldNotes: Record<string, Record<string, string | JsonSchema>> = {
  Error: {
    error:
      '`code`: one of those of the answer. `message`: for people; it begins with the name of the wrong field, if there is one. `retryable`: whether the same request may succeed later. `retry_after`: in how many seconds, as in `Retry-After`. `position`: only for the query of `POST /v1/monitors/parse`; where the fault is, in UTF-16 code units from 0.',
  },
  WebhookEvent: {
    type: 'Ignore events of other types: later versions may send them.',
    match: 'The match. A repeated delivery has the same `id`.',
    sent_at: 'The time of the attempt in Unix seconds.',
  },
  SpikeEvent: {
    spike:
      '`at`: the beginning of the hour. `count`: its matches. `expected`: what that hour of the day usually has. `score`: how far above that it is, in scales of the usual differences. `keyword`: absent when all keywords are meant together.',
    sent_at: 'The time of the attempt in Unix seconds.',
  },
  DigestEvent: {
    digest:
      '`count`: all matches of this digest. `matches`: the first of them, oldest first, as they are now; what the forum removed is blank. `more`: how many are not among them. `url`: the page with all of them, for people who are signed in.',
    sent_at: 'The time of the attempt in Unix seconds.',
  },
  ...forumNotes,
  ...coverageNotes,
  ...previewNotes,
  ...trendNotes,
  Monitor: {
    keywords: 'An item matches when it contains one of these or of `terms`, and none of `exclude`.',
    subreddits: 'Without `r/`; empty: the whole forum.',
    include_posts: 'Can be sent to create and update under this name or as `posts`.',
    include_comments: 'Can be sent to create and update under this name or as `comments`.',
    webhook_url: 'null: matches are stored but not sent.',
    status: '`paused_balance`: stopped because the balance did not cover the next 24 hours.',
    webhook_failing: '50 deliveries in a row failed. Cleared by a successful test delivery and by a new `webhook_url`.',
    next_charge_at: 'When the next 24 hours are charged if the monitor is still running.',
  },
  MonitorStats: {
    matches_today: 'Since 00:00 UTC, without suppressed matches.',
    suppressed_today:
      'Beyond the daily cap, or repeated in a thread (`thread_once`): stored but not sent. At most 10,000 a day unless the installation sets another limit.',
    suppressed_not_stored:
      "Today's matches beyond the 10,000 suppressed ones that are stored: only counted. Approximate: an item that is processed twice counts twice.",
    matches_7d: 'Today and the previous six days.',
    delivery_failures_24h:
      'Deliveries that failed for good in the last 24 hours: after the last retry, or at once when the endpoint refused. While an endpoint is down, see `delivery`.',
  },
  MonitorDelivery: {
    state:
      '`none`: the monitor has no webhook. `failing`: `webhook_failing` is set, or the last attempt failed and a match has waited for more than 10 minutes. `retrying`: the last attempt failed. `ok`: anything else.',
    pending: 'Matches that wait for their delivery or for a retry. Counted up to 1,000.',
    oldest_pending_at:
      'Since when the match that waits longest has waited, since it was recorded or resent; null: none.',
    last_status: 'What the endpoint answered the last attempt; 0: nothing; null: no attempt in the last 30 days.',
    last_error: 'Why the last attempt failed, as in the log of deliveries; null: it succeeded, or there was none.',
    last_attempt_at: 'When the last attempt began.',
    last_delivered_at: 'When an attempt last succeeded; null: not in the last 30 days.',
    attempt_failures_24h:
      'Attempts of the last 24 hours that failed, whether or not they are retried. Counted up to 10,000.',
  },
  MonitorMatch: {
    id: 'Sorts as text in match order.',
    title: 'For a comment, the title of its post.',
    body: 'Markdown: the text of the post or comment.',
    matched_terms: 'The keywords and the texts of `terms` that matched, as you wrote them.',
    suppressed: 'Beyond the daily cap, or for `suppressed_reason`: stored but not sent.',
    suppressed_reason:
      '`thread_once`: its thread had a match of this monitor that day. Absent when the match is not suppressed, or because of the daily cap.',
    backfill: 'Present when a backfill found the match in the archive.',
    delivery_status:
      '`none`: no webhook, or a backfill that does not deliver; `pending`: waiting to be sent or retried; `delivered`; `failed`: failed for good; `skipped`: will not be sent.',
  },
  MatchPage: {
    after:
      'With `order=oldest`: send it as `after` to continue. Only set when there are more matches; a filtered page may be empty and still have it.',
    before: 'With `order=newest`: send it as `before` to get the next, older page.',
  },
  ExplainedTerm: {
    matched: 'Whether it occurs in a text in which it counts.',
    rule: 'How it is searched: as a whole `word`, as the beginning of one (`prefix`), as a `phrase`, with its `punctuation`, by `characters` (scripts without spaces), or as `symbols`. null: it has nothing to search for.',
    positions:
      'Its first occurrence in each of these texts, in UTF-16 code units [start, end). The title of a comment is that of its post: `post_title`.',
    nearest:
      'For a term that does not occur: the piece of the texts that is nearest to it, and why it does not count. `case`: other capital letters. `other_text`: a text in which it does not count. `inside_word`: a part of a longer word. `punctuation`: the same words with other symbols. `joined`, `split`: written as one word, or as two. `accents`: other accents. `similar_word`: one letter differs. `apart`: all its words, not together. `some_words`: all but those in `missing`. null: nothing is near.',
    same_as: 'An earlier term that is equal after folding, which counts instead.',
  },
  SqlAnswer: {
    columns: 'Names and types (of ClickHouse) of the columns.',
    rows: 'The rows, each with a value for each column.',
    credits_used: 'As in `X-Credits-Used`.',
  },
  RuleExplanation: {
    require: 'The groups of `require`; absent when there are none.',
    filters: 'Each filter that the rule has, and whether the item passes it.',
    history: 'Empty: a text has none.',
  },
  ItemExplanation: {
    matched: "Whether the monitor's rule of now matches it. null: the content is not known.",
    require: 'The groups of `require`; absent when there are none.',
    filters: 'Each filter that the rule has, and whether the item passes it; `muted` when the monitor has mutes.',
    item: 'The item as it was first seen, blank when the forum removed it. null: it is not in the archive.',
    history:
      'What happened to it, oldest first, as far as it is kept (30 days). `not_recorded` has a `reason`: `not_matched` (by the rule of that time), `before_monitor`, `paused`, `paused_balance`, `created_too_early`, `muted`, `over_ceiling` (more suppressed matches than are stored), `under_way` (seen less than a minute ago), `rule_unknown` (the rule of that time is not kept), `content_removed`, `unknown`.',
  },
  RuleWarning: {
    field: 'Where it is in the monitor of this answer: `keywords[2]`, counting from 0.',
    code: '`keyword_excluded`: an excluded term is part of the keyword, so it never matches. `nothing_watched`: neither posts nor comments. `text_not_watched`: it counts only in texts that the watched kinds do not have. `search_operator` (`rust OR go`), `field_prefix` (`title:rust`), `wildcard` (`rust*`): searched for as written; `require`, `terms` and `exclude` say what such syntax would. `quotes_ignored`: quotes around a phrase. `common_word`: in very many items; for monitors without `subreddits`. Later versions may have further codes.',
    message: 'For people.',
  },
  CreatedMonitor: { webhook_secret: webhookSecret, warnings },
  UpdatedMonitor: { warnings },
  MonitorList: {
    limit: 'Monitors that the plan allows.',
    used: 'Monitors that the account has.',
    daily_match_cap: 'Matches that are sent per monitor and day (UTC).',
  },
  Account: {
    balance: 'Credits.',
    plan: '`free`, or the largest pack bought.',
  },
  DeliveryLogEntry: {
    attempt: '1, 2, 3 …, continued by resends.',
    host: 'Host and port of the webhook.',
    status: "The status of the endpoint's answer; 0 without an answer.",
    error:
      'Why the attempt failed; null when it succeeded. `http_status`: the answer was not 2xx. Without an answer: `timeout`, `dns`, `connect`, `tls`, `blocked_address` (not public) or `secret_unreadable`.',
    response_excerpt: 'The first 500 characters of the answer.',
    delivery_status: "The match's delivery state after the attempt; `pending`: it is retried at `next_attempt_at`.",
  },
  ServiceStatus: {
    status: '`down` when a part is down, else `degraded` when one is not `ok`.',
    checked_at: 'When it was measured.',
    parts:
      '`services`: whether everything answers. `items`: the age of the newest item. `processing`: the records that wait, by the stage that reads them. `deliveries`: those due now, a lower bound when there are very many. `clocks`: by how many seconds the brokers are ahead of the database, negative when behind; null when nothing was compared lately.',
  },
  EventLogEntry: {
    id: 'As in `webhook-id` and `X-Service-Delivery` of its deliveries.',
    created_at: 'When it was stored; it is first sent within about a second of that.',
    delivery_status:
      '`pending`: waiting to be sent or retried; `delivered`; `failed`: failed for good; `skipped`: the monitor had no webhook any more.',
    attempts: 'Made so far.',
    last_status:
      'The status that the endpoint answered to the last attempt; 0 without an answer, null without an attempt.',
    last_error: 'Why the last attempt failed, in the words of the log of deliveries; null when it succeeded.',
    spike: 'Of `monitor.spike`: the spike as it is sent.',
    digest:
      'Of `monitor.digest`. `count`: its matches. `after`: the match before the first one, null when there is none. `until`: its last match. Matches between them that were suppressed or backfilled are not part of it.',
  },
  EventLogPage: { after: 'Send it as `after` to get the next, older page; null on the last page.' },
  DeliveryLogPage: { after: 'Send it as `after` to get the next, older page; null on the last page.' },
  Redeliver: {
    match_ids: 'At most 200 matches of this monitor. Cannot be combined with other fields.',
    status: 'All matches with this delivery state.',
    since: 'All matches recorded at this time or later.',
  },
  Redelivery: {
    queued: 'Matches that this request queued; with `status` `pending`, those that it made due.',
    more: 'More matches fit the request: send it again.',
  },
  RotatedSecret: { webhook_secret: webhookSecret },
  TestDelivery: {
    delivered: 'Whether the endpoint answered 2xx.',
    status: 'The status of its answer; 0 without an answer.',
    error:
      'Why it failed, in the words of the log of deliveries; null: it succeeded. `http_status`: the answer was not 2xx; `redirect`: redirects are not followed; `local`: a problem on our side prevented sending; `secret_unreadable`: the operator must restore a key.',
  },
  CreateApiKey: {
    name: 'A name of your choice.',
    scopes: { description: 'Its permissions. Each must be one that the requesting key has.' },
  },
  AccountGrant: {
    id: 'Used only to revoke the grant.',
    client_id: 'How the program identifies itself: the address of its metadata document, or the id it registered.',
    client_name: "The program's own name; null when it has none or is no longer known.",
    scopes: 'Its permissions: `forum:read`, `monitors`.',
    last_used_at: 'The last tool call, to the minute; null: never.',
  },
  ApiKey: {
    id: 'The 8 characters after `fk_`.',
    scopes: 'Its permissions.',
    last_used_at: 'To the minute; null: never.',
  },
  LedgerEntry: {
    kind: '`correction`: the operator made the balance and this ledger agree again, after they differed. `reversal`: a charge given back whose request was answered 503.',
    amount: 'Credits: above 0 given, below 0 taken; 0 for a correction of the balance alone.',
    reference: 'What was charged or granted; unique per kind. Of a reversal, that of the charge.',
    request_id:
      'The `X-Request-Id` of the request that was charged, also of its reversal; null for renewals, grants, corrections and entries from before it was recorded.',
    route: 'Its route, for a tool call the route of the tool; null as `request_id`.',
    key_id: 'The key that it was sent with; null also for a program that signed in.',
  },
  LedgerPage: { after: 'Send it as `after` to get the next, older page; null on the last page.' },
  Usage: {
    by: 'What charges are grouped by.',
    from: 'First UTC day.',
    to: 'Last UTC day.',
    items: 'Days in their order; routes and keys with the most credits first, at most 1,000.',
    total: 'Of the whole range.',
  },
  UsageItem: {
    day: 'With `by=day`: a UTC day that has charges.',
    route: 'With `by=route`: a route; null for renewals of monitors and charges from before routes were recorded.',
    key_id: 'With `by=key`: the key; null for charges without one, such as renewals and programs that signed in.',
    charges: 'How often credits were charged.',
    credits: 'Credits in all.',
  },
  SignupRequest: { email: 'One plain address, `name@host.domain`. The code is mailed to it.' },
  CodeSent: {
    signup_token: 'Send it with the code.',
    expires_in: 'Seconds for which the token and the code are valid.',
    next: 'What to do next, in words.',
  },
  VerifyRequest: {
    signup_token: "The `signup_token` of the sign-up's answer.",
    code: 'The 6 digits that were mailed.',
  },
  AccountCreated: {
    api_key: 'Shown only this once. Keep it out of chat transcripts and logs.',
    credits: '200; 0 when `notes` says why.',
    next: 'What to do next, in words.',
    example_request: 'A `curl` command that only lacks the key.',
    docs: 'Where the API is documented.',
    notes: 'Notes on the key, costs and credits.',
  },
  RecoverRequest: { email: 'The address that the account was opened with. The code is mailed to it.' },
  RecoverySent: {
    recovery_token: 'Send it with the code.',
    expires_in: 'Seconds for which the token and the code are valid.',
    next: 'What to do next, in words.',
  },
  RecoverVerifyRequest: {
    recovery_token: "The `recovery_token` of the first request's answer.",
    code: 'The 6 digits that were mailed.',
  },
  KeyRecovered: { api_key: 'A key with all permissions. Shown only this once.' },
  DeleteAccount: { email: 'The address of the account, as `GET /v1/account` shows it.' },
  RuleSettings: {
    keywords: keywords.description,
    exclude: exclude.description,
    subreddits: subreddits.description,
    posts: monitorBody.posts,
    comments: monitorBody.comments,
    nsfw: monitorBody.nsfw,
  },
  CreateMonitor: {
    ...monitorBody,
    keywords,
    exclude,
    subreddits,
    webhook_url: { description: webhookUrl, format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]://' },
    webhook_kind: webhookKind,
  },
  PatchMonitor: {
    ...monitorBody,
    keywords,
    exclude,
    subreddits,
    webhook_url: `${webhookUrl} null or empty: no webhook.`,
    webhook_kind: `${webhookKind} null: detected again.`,
  },
};
