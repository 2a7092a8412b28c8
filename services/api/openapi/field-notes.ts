import type { JsonSchema } from './openapi-shape.ts';

const TERMS = { items: { minLength: 2, maxLength: 100 }, maxItems: 20 };

const keywords = {
  ...TERMS,
  minItems: 1,
  description:
    'An item matches when it holds one of these: whole words, whatever their case; several words are a phrase; terms in Chinese, Japanese or Korean match anywhere.',
};
const exclude = { ...TERMS, description: 'An item that holds one of these does not match.' };
const subreddits = {
  maxItems: 50,
  description: 'Communities to watch, with or without `r/`; empty: the whole forum.',
};
const webhookUrl = 'Where matches are sent: an `https://` URL that leads to a public address.';
const webhookKind = 'What the webhook is; detected from the URL when absent.';
const warnings =
  'Keywords that are very common, a sentence each; absent when there are none, and for a monitor of some communities only.';
const webhookSecret = 'Signs what is sent to generic webhooks. Shown this once.';

const monitorBody = {
  name: 'What you call it.',
  posts: 'Whether posts are matched, on title and text.',
  comments: 'Whether comments are matched, on their text.',
  nsfw: 'Whether NSFW items can match.',
};

const listing = {
  query: 'What was searched for; null where nothing was.',
  sort: 'The order of the items.',
  count: 'How many items this page holds.',
  after: 'Send it as `after` to get the next page; null: there is none.',
  filtered_nsfw: 'Items of this page that were left out because they are NSFW.',
  degraded: 'The forum could not be read, and this is an older copy.',
};
const within = { subreddit: 'The community that was asked for; null where none was.' };

/**
 * What a schema cannot say of its fields: a description, or a fragment of JSON Schema for what the service checks
 * itself. By component and field.
 */
export const fieldNotes: Record<string, Record<string, string | JsonSchema>> = {
  Comment: {
    parent_id: '`t3_…` of the post, or `t1_…` of the comment that this one answers.',
    author: '`[deleted]` when the account or the comment is gone.',
    body: 'Markdown; `[deleted]` or `[removed]` when it is gone.',
    depth: '0: it answers the post.',
    is_submitter: 'Written by the author of the post.',
    controversy: '1: the forum counts it as controversial.',
  },
  Post: {
    id: 'Without `t3_`.',
    name: 'The fullname: `t3_` and the id.',
    flair: 'Empty where there is none.',
    removed: 'By anybody but its author.',
    selftext: 'Markdown; empty for a link.',
    upvote_ratio: '0 where the forum does not tell.',
    media:
      'Pictures and videos. A gallery is one item of type `gallery` per picture, in its order. Width and height are 0 where the forum does not tell.',
    poll: 'null where there is none. While a poll runs the forum hides the counts, which are 0 then.',
    crosspost_of: 'The post that this one repeats; null where there is none.',
    comments: 'The tree of comments. Filled by `/v1/forum/post` only, and empty elsewhere.',
  },
  DiscussionGraph: {
    author_followups: 'Comments of the author of the post. Comments of this graph have no replies.',
    most_upvoted: 'The highest scores, without the author of the post, the automatic moderator and what was deleted.',
    controversial: 'Marked as controversial or with a negative score, without the author of the post.',
    total_analyzed: 'How many comments were looked at.',
  },
  PostMeta: {
    comments_returned: 'Comments that were read, also where the format shows only some of them.',
    comments_total: 'As the forum counts them, deleted and hidden ones included.',
    has_more: 'A larger `max_comments` would return more.',
    cache: 'As the header `X-Cache-Tier`.',
    limited_by_balance: 'The balance covered fewer comments than were asked for.',
    focus_comment_id: 'Only where a comment was asked for.',
  },
  CommentItem: {
    post_title: 'Empty where it could not be had.',
    author: '`[deleted]` when the account or the comment is gone.',
    body: 'Markdown.',
    parent_id: '`t3_…` of the post, or `t1_…` of the comment that this one answers.',
    is_submitter: 'Written by the author of the post.',
    controversiality: '1: the forum counts it as controversial.',
  },
  SubredditRule: { kind: 'What it is for: `link`, `comment` or `all`.' },
  Subreddit: {
    name: 'Without `r/`.',
    type: '`public`, `restricted`, `private`, `archived`, `user` …',
    rules: 'Empty in listings.',
  },
  User: { created_at: 'null where the forum does not tell, as of suspended accounts.' },
  Listing: { ...within, ...listing },
  CommentListing: { ...within, ...listing },
  SubredditListing: listing,
  UserListing: listing,
  ThingsResponse: {
    items: 'In the order that was asked for.',
    missing: 'What was asked for and is not there, as it was written.',
  },
  Monitor: {
    keywords: 'An item matches when it holds one of these and none of `exclude`.',
    subreddits: 'Without `r/`; empty: the whole forum.',
    include_posts: 'The field `posts` of create and update.',
    include_comments: 'The field `comments` of create and update.',
    webhook_url: 'null: matches are only kept for reading.',
    status: '`paused_balance`: stopped because the balance did not cover the next 24 hours.',
    webhook_failing: '50 deliveries in a row failed. Cleared when one succeeds, and by a new `webhook_url`.',
    next_charge_at: 'When the next 24 hours are charged, if it runs then.',
  },
  MonitorStats: {
    matches_today: 'Since 00:00 UTC, without suppressed ones.',
    suppressed_today:
      'Beyond the daily cap: kept, but not sent. At most 10,000 a day, unless the installation says otherwise.',
    suppressed_not_stored:
      'Matches of today beyond the 10,000 suppressed ones that are kept: only counted. Approximate: what is processed twice counts twice.',
    matches_7d: 'Today and the six days before.',
    delivery_failures_24h: 'Deliveries that were given up in the last 24 hours.',
  },
  MonitorMatch: {
    id: 'Sorts, as text, in match order.',
    title: 'For a comment the title of the post it is on.',
    body: 'Markdown: the text of the post or comment.',
    matched_terms: 'The keywords that were found, as you wrote them.',
    suppressed: 'Beyond the daily cap: kept, but not sent.',
    delivery_status:
      '`none`: no webhook; `pending`: to be sent, or sent again; `delivered`; `failed`: given up; `skipped`: not to be sent.',
  },
  MatchPage: {
    after: 'With `order=oldest`: send it as `after` to go on. Only set while more matches are waiting.',
    before: 'With `order=newest`: send it as `before` to get the next, older page.',
  },
  CreatedMonitor: { webhook_secret: webhookSecret, warnings },
  UpdatedMonitor: { warnings },
  MonitorList: {
    limit: 'Monitors that the account may have.',
    used: 'Monitors that it has.',
    daily_match_cap: 'Matches per monitor and day (UTC) that are sent.',
  },
  Account: {
    balance: 'Credits.',
    plan: '`free`, or the largest pack that was bought.',
  },
  DeliveryLogEntry: {
    attempt: '1, 2, 3 …, over resends too.',
    host: 'Host and port of the webhook.',
    status: 'What the endpoint answered; 0: nothing.',
    error: 'Why the attempt failed; null: it did not.',
    response_excerpt: 'The first 500 characters of the answer.',
    delivery_status: 'What the attempt made of the match; `pending`: it is tried again at `next_attempt_at`.',
  },
  DeliveryLogPage: { after: 'Send it as `after` to get the next, older page; null: there is none.' },
  Redeliver: {
    match_ids: 'Matches of this monitor, at most 200; nothing else beside them.',
    status: 'All matches whose delivery ended so.',
    since: 'All that were recorded then or later.',
  },
  Redelivery: {
    queued: 'Matches that are queued because of this request; those that were pending already are not among them.',
    more: 'More fit what was asked: ask again.',
  },
  RotatedSecret: { webhook_secret: webhookSecret },
  TestDelivery: {
    delivered: 'Whether the endpoint answered 2xx.',
    status: 'What it answered; 0: nothing.',
    error:
      'Why there was no answer; `redirect`: there was one that is not followed; `local`: it could not be sent for a reason on our side.',
  },
  CreateApiKey: {
    name: 'What you call it.',
    scopes: { description: 'Its permissions; those of reading when absent.' },
  },
  AccountGrant: {
    id: 'Of use only to revoke it.',
    client_id: 'As the program signed in: the address of its document, or the id that it was given.',
    client_name: 'What the program calls itself; null where it gave no name, or is not known any more.',
    scopes: 'What it may do: `forum:read`, `monitors`.',
    last_used_at: 'The last call of a tool, to the minute; null: never.',
  },
  ApiKey: { id: 'The 8 characters after `fk_`.', last_used_at: 'To the minute; null: never.' },
  LedgerEntry: {
    amount: 'Credits: above 0 given, below 0 taken.',
    reference: 'What was charged or granted; unique per kind.',
  },
  LedgerPage: { after: 'Send it as `after` to get the next, older page; null: there is none.' },
  SignupRequest: { email: 'One plain address, `name@host.domain`. The code is mailed there.' },
  CodeSent: {
    signup_token: 'Send it with the code.',
    expires_in: 'Seconds for which token and code are good.',
    next: 'What to do now, in words.',
  },
  VerifyRequest: { signup_token: 'From the answer to the sign-up.', code: 'The 6 digits that were mailed.' },
  AccountCreated: {
    api_key: 'Shown this once. Keep it out of chat transcripts and logs.',
    credits: '200; 0 where `notes` says why.',
    next: 'What to do now, in words.',
    example_request: 'A `curl` command, to be completed with the key.',
    docs: 'Where the API is described.',
    notes: 'What to know about the key, costs and credits.',
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
    webhook_kind: `${webhookKind} null: detected anew.`,
  },
};
