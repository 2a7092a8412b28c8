import { z } from 'zod';
import { count, example, timestamp } from '../messages/forum-item.ts';
import { monitorName } from '../messages/monitor-event.ts';
import { monitorId } from '../messages/monitor-match.ts';
import { backfill, backfillHours } from './backfills.ts';
import { givenName, storableString } from './common.ts';

/** The conditions that most monitors do not have. The same shapes in requests and in responses. */

export const searchedText = z.enum(['title', 'body', 'post_title']);

export const monitorTerm = z
  .strictObject({
    text: storableString.meta({
      minLength: 1,
      maxLength: 100,
      description:
        'A word, a phrase, or Chinese, Japanese or Korean text, matched like a keyword. At least two characters, or one emoji.',
    }),
    prefix: z
      .boolean()
      .optional()
      .describe(
        'true: also matches longer words that begin with `text`, which must then be one word of at least 3 letters.',
      ),
    case_sensitive: z.boolean().optional().describe('true: case-sensitive.'),
    in: z.array(searchedText).optional().describe('Where this term counts. Overrides `match_in`.'),
  })
  .meta({ id: 'MonitorTerm' });

export type MonitorTerm = z.infer<typeof monitorTerm>;

const conditionedTerms = z.array(monitorTerm).meta({ maxItems: 20 });
/** A term without conditions. */
const plainTerm = storableString.meta({ minLength: 1, maxLength: 100 });
const groups = z.array(z.array(z.union([plainTerm, monitorTerm])).meta({ minItems: 1, maxItems: 20 }));
const require = groups.meta({ maxItems: 5 });
const texts = z.array(searchedText);
const names = z.array(storableString).meta({ maxItems: 50 });
const languages = z.array(storableString.meta({ pattern: '^([a-z]{2}|und)$' })).meta({ maxItems: 50 });

/** What the members of a rule mean, in requests as in responses. */
const MEANING = {
  keywords:
    'An item matches when it contains one of these. They match whole words and ignore case; several words form a phrase; Chinese, Japanese and Korean terms match anywhere. Each has at least two characters, or is one emoji. At least one is required, unless there are `terms`.',
  exclude: 'An item that contains one of these does not match.',
  subreddits: 'Communities to watch, with or without `r/`. Empty: the whole forum.',
  posts: 'Whether posts are matched, by title and text.',
  comments: 'Whether comments are matched, by text.',
  nsfw: 'Whether NSFW items can match.',
  terms:
    'Keywords with conditions: an item matches when it contains one of these or of `keywords`. At most 20, including `keywords`.',
  require:
    'Groups of terms: an item must also contain at least one term of each group. Strings are terms without conditions.',
  match_in:
    'Where keywords, `terms` and `require` count: in the `title` of posts, the `body` of posts and comments, or the `post_title` of comments. Default: `title` and `body`. Does not limit `exclude`.',
  exclude_subreddits: 'Communities to leave out, with or without `r/`.',
  authors: 'Only posts and comments by these accounts, with or without `u/`; case does not matter.',
  exclude_authors: 'No posts or comments by these accounts, with or without `u/`; case does not matter.',
  languages:
    'Only posts and comments in these languages: ISO 639-1 codes, and `und` for texts that are too short or too mixed to decide.',
  thread_once:
    'At most one match per thread and day (UTC). Further matches are stored as suppressed, with `suppressed_reason`. Matches from before it was switched on do not count, so on that day a thread may have one more.',
  spike_webhook:
    'true: an hour with far more matches than usual is sent to the webhook as a `monitor.spike` event. Requires a `webhook_url`; removing that switches it off. Default: false.',
  digest:
    'Sends matches together instead of one by one, every full hour or every midnight (UTC): as a `monitor.digest` event to the webhook or, without a webhook, by mail to the address of the account. If no mail can be sent to that address, a `webhook_url` is required. A digest has at most 100 matches; without matches, nothing is sent.',
  notify:
    'email: matches are also mailed to the address of the account, whatever else they are sent to. The first one is mailed at once, then at most one mail in five minutes, with what came meanwhile, and at most five in five minutes of all monitors together; what waits comes in a later one. Suppressed and backfilled matches are not mailed. Free. Not possible if no mail can be sent to that address.',
  notify_stopped:
    'Why `notify` is off: the mail server refused the address (`bounced`), or the link in a mail was used (`unsubscribed`). Absent when it was switched off here, and once it is on again.',
};

/** Members of a monitor in responses: absent when they are not used. */
export const refinementFields = {
  terms: conditionedTerms.optional().describe(MEANING.terms),
  require: require.optional().describe(MEANING.require),
  match_in: texts.optional().describe(MEANING.match_in),
  exclude_subreddits: names.optional().describe(MEANING.exclude_subreddits),
  authors: names.optional().describe(MEANING.authors),
  exclude_authors: names.optional().describe(MEANING.exclude_authors),
  languages: languages.optional().describe(MEANING.languages),
  thread_once: z.boolean().optional().describe(MEANING.thread_once),
};

/** Members of bodies. null, an empty list and false remove a condition; at creation they mean the same as absence. */
export const refinementChanges = {
  terms: conditionedTerms.nullable().optional().describe(MEANING.terms),
  require: require.nullable().optional().describe(MEANING.require),
  match_in: texts.nullable().optional().describe(MEANING.match_in),
  exclude_subreddits: names.nullable().optional().describe(MEANING.exclude_subreddits),
  authors: names.nullable().optional().describe(MEANING.authors),
  exclude_authors: names.nullable().optional().describe(MEANING.exclude_authors),
  languages: languages.nullable().optional().describe(MEANING.languages),
  thread_once: z.boolean().nullable().optional().describe(MEANING.thread_once),
};

export type RefinementFields = z.infer<z.ZodObject<typeof refinementFields>>;
export type RefinementChanges = z.infer<z.ZodObject<typeof refinementChanges>>;

/** What a monitor does beside matching. Most monitors use none of it. */

const digestPeriod = z.enum(['hourly', 'daily']);
export type DigestPeriod = z.infer<typeof digestPeriod>;
const notifyBy = z.enum(['email']);
export type NotifyBy = z.infer<typeof notifyBy>;
const notifyStopped = z.enum(['bounced', 'unsubscribed']);
export type NotifyStopped = z.infer<typeof notifyStopped>;

/** Members of a monitor in responses: absent when they are not used. */
export const optionFields = {
  spike_webhook: z.boolean().optional().describe(MEANING.spike_webhook),
  digest: digestPeriod.optional().describe(MEANING.digest),
  notify: notifyBy.optional().describe(MEANING.notify),
  notify_stopped: notifyStopped.optional().describe(MEANING.notify_stopped),
};

/** Members of bodies. null and false switch an option off; at creation they mean the same as absence. */
export const optionChanges = {
  spike_webhook: z.boolean().nullable().optional().describe(MEANING.spike_webhook),
  digest: digestPeriod.nullable().optional().describe(MEANING.digest),
  notify: notifyBy.nullable().optional().describe(MEANING.notify),
};

/** Body of POST /v1/monitors/parse. The service checks the text, because it reports where a fault is. */
export const parseQueryBody = z
  .strictObject({
    query: z.string().meta({
      maxLength: 50_000,
      description: 'A rule written as text, such as `rust OR "memory safety" sub:-rustjerk author:-automod`.',
      ...example('rust OR "memory safety" OR title:hiring* sub:-rustjerk author:-automod'),
    }),
  })
  .meta({ id: 'ParseQuery' });

const flag = z.boolean().optional();
const list = z.array(z.string()).optional();

/** What a rule is in POST /v1/monitors: fields with their usual value are absent. */
export const ruleSettings = z
  .strictObject({
    keywords: list.describe(MEANING.keywords),
    exclude: list.describe(MEANING.exclude),
    subreddits: list.describe(MEANING.subreddits),
    posts: flag.describe(MEANING.posts),
    comments: flag.describe(MEANING.comments),
    nsfw: flag.describe(MEANING.nsfw),
    ...refinementFields,
  })
  .meta({
    id: 'RuleSettings',
    ...example({
      keywords: ['rust', 'memory safety'],
      terms: [{ text: 'hiring', prefix: true, in: ['title'] }],
      exclude_subreddits: ['rustjerk'],
      exclude_authors: ['automod'],
    }),
  });

export type RuleSettingsResource = z.infer<typeof ruleSettings>;

/** Response of POST /v1/monitors/parse. */
export const parsedQuery = z.strictObject({ settings: ruleSettings }).meta({ id: 'ParsedQuery' });

export type ParsedQuery = z.infer<typeof parsedQuery>;

export const webhookKind = z.enum(['generic', 'slack', 'discord']);
export type WebhookKind = z.infer<typeof webhookKind>;

export const monitorStatus = z.enum(['active', 'paused', 'paused_balance', 'deleted']);
export type MonitorStatus = z.infer<typeof monitorStatus>;

export const monitor = z
  .strictObject({
    id: monitorId,
    name: monitorName,
    keywords: z
      .array(z.string())
      .describe('An item matches when it contains one of these or of `terms`, and none of `exclude`.')
      .meta(example(['french press', 'コーヒーミル'])),
    exclude: z.array(z.string()).meta(example(['giveaway'])),
    subreddits: z
      .array(z.string())
      .describe('Without `r/`. Empty: the whole forum.')
      .meta(example(['Coffee', 'espresso'])),
    include_posts: z.boolean().describe('In requests, you can use this name or `posts`.').meta(example(true)),
    include_comments: z.boolean().describe('In requests, you can use this name or `comments`.').meta(example(true)),
    nsfw: z.boolean(),
    ...refinementFields,
    webhook_url: z
      .string()
      .nullable()
      .describe('null: matches are stored but not sent.')
      .meta(example('https://example.com/hooks/forum')),
    webhook_kind: webhookKind.nullable(),
    ...optionFields,
    status: monitorStatus.describe('`paused_balance`: paused because the balance did not cover the next 24 hours.'),
    webhook_failing: z
      .boolean()
      .describe('true: 50 deliveries in a row failed. Cleared by a successful test delivery or a new `webhook_url`.'),
    next_charge_at: timestamp
      .describe('When the next 24 hours are charged, if the monitor is still running.')
      .meta(example('2026-03-05T10:00:00.000Z')),
    last_match_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Monitor' });

export type Monitor = z.infer<typeof monitor>;

/** What a monitor usually has none of. */
const rare = count.meta(example(0));

export const monitorStats = z
  .strictObject({
    matches_today: count.describe('Matches since 00:00 UTC, without suppressed ones.').meta(example(42)),
    suppressed_today: rare.describe(
      'Matches since 00:00 UTC that are stored but not sent, because they are beyond the daily cap or repeated in a thread (`thread_once`). At most 10,000 a day, unless the installation sets another limit.',
    ),
    suppressed_not_stored: rare.describe(
      'Matches since 00:00 UTC beyond the 10,000 suppressed ones, which are counted but not stored. Approximate: an item that is processed twice counts twice.',
    ),
    matches_7d: count.describe('Matches of today and the previous six days.').meta(example(240)),
    delivery_failures_24h: rare.describe(
      'Deliveries that failed permanently in the last 24 hours: after the last retry, or immediately when the endpoint refused them. While an endpoint is down, see `delivery`.',
    ),
    last_match_at: timestamp.nullable(),
  })
  .meta({ id: 'MonitorStats' });

export type MonitorStats = z.infer<typeof monitorStats>;

/** How the deliveries of a monitor go now. Attempts are kept for 30 days. */
export const monitorDelivery = z
  .strictObject({
    state: z
      .enum(['ok', 'retrying', 'failing', 'none'])
      .describe(
        '`none`: the monitor has no webhook. `failing`: `webhook_failing` is set, or the last attempt failed and a match has been waiting for more than 10 minutes. `retrying`: the last attempt failed. `ok`: anything else.',
      ),
    pending: rare.max(1_000).describe('Matches that are waiting for delivery or a retry. Counted up to 1,000.'),
    oldest_pending_at: timestamp
      .nullable()
      .describe('Since when the longest-waiting match has been waiting: when it was recorded or resent. null: none.')
      .meta(example(null)),
    last_status: count
      .nullable()
      .describe(
        'The HTTP status of the response to the last attempt. 0: no response. null: no attempt in the last 30 days.',
      )
      .meta(example(204)),
    last_error: z
      .string()
      .nullable()
      .describe('Why the last attempt failed, as in the delivery log. null: it succeeded, or there was none.'),
    last_attempt_at: timestamp.nullable().describe('When the last attempt began.'),
    last_delivered_at: timestamp.nullable().describe('When an attempt last succeeded. null: not in the last 30 days.'),
    attempt_failures_24h: rare
      .max(10_000)
      .describe('Attempts that failed in the last 24 hours, whether or not they are retried. Counted up to 10,000.'),
  })
  .meta({ id: 'MonitorDelivery' });

export type MonitorDelivery = z.infer<typeof monitorDelivery>;

/** Something in an accepted rule that its owner may not mean. */
export const ruleWarning = z
  .strictObject({
    field: z
      .string()
      .describe('Where the term is in the monitor of this response: `keywords[2]`, counting from 0.')
      .meta(example('keywords[0]')),
    code: z
      .enum([
        'keyword_excluded',
        'nothing_watched',
        'text_not_watched',
        'search_operator',
        'field_prefix',
        'wildcard',
        'quotes_ignored',
        'common_word',
      ])
      .describe(
        '`keyword_excluded`: an excluded term is part of the keyword, so it never matches. `nothing_watched`: neither posts nor comments are watched. `text_not_watched`: the term counts only in texts that the watched kinds do not have. `search_operator` (`rust OR go`), `field_prefix` (`title:rust`), `wildcard` (`rust*`): the term is searched for literally; use `require`, `terms` and `exclude` instead. `quotes_ignored`: the quotes around a phrase have no effect. `common_word`: the term is in very many items; only for monitors without `subreddits`. Later versions may add codes.',
      )
      .meta(example('keyword_excluded')),
    message: z
      .string()
      .describe('For people.')
      .meta(
        example('"giveaway today" never matches: every text that contains it contains the excluded term "giveaway".'),
      ),
  })
  .meta({ id: 'RuleWarning' });

export type RuleWarning = z.infer<typeof ruleWarning>;

const warnings = z
  .array(ruleWarning)
  .min(1)
  .optional()
  .describe('Where the rule may not do what you mean, or cannot match. Absent when there is nothing to point out.');

const secret = z
  .string()
  .describe('Signs deliveries to generic webhooks. Shown only once.')
  .meta(example('whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGU='));

/** Response of POST /v1/monitors. The secret appears only here. */
export const createdMonitor = z
  .strictObject({
    monitor,
    webhook_secret: secret,
    warnings,
    /** The run that `backfill_hours` asked for; absent without it. */
    backfill: backfill.optional(),
  })
  .meta({ id: 'CreatedMonitor' });

/** Response of PATCH /v1/monitors/{id}. */
export const updatedMonitor = z
  .strictObject({
    monitor,
    warnings,
  })
  .meta({ id: 'UpdatedMonitor' });

/** Response of GET /v1/monitors. */
export const monitorList = z
  .strictObject({
    items: z.array(monitor),
    limit: count.describe('How many monitors the plan allows.').meta(example(10)),
    used: count.describe('How many monitors the account has.'),
    daily_match_cap: count.describe('How many matches are sent per monitor and day (UTC).').meta(example(1_000)),
  })
  .meta({ id: 'MonitorList' });

/** Response of GET /v1/monitors/{id}. */
export const monitorWithStats = z
  .strictObject({ monitor, stats: monitorStats, delivery: monitorDelivery })
  .meta({ id: 'MonitorWithStats' });
export const monitorAnswer = z.strictObject({ monitor }).meta({ id: 'MonitorAnswer' });
/** Response of POST /v1/monitors/{id}/rotate-secret. */
export const rotatedSecret = z.strictObject({ webhook_secret: secret }).meta({ id: 'RotatedSecret' });
export const monitorDeleted = z.strictObject({ status: z.literal('deleted') }).meta({ id: 'MonitorDeleted' });
export const monitorPaused = z.strictObject({ status: z.literal('paused') }).meta({ id: 'MonitorPaused' });

const terms = z.array(plainTerm).meta({ maxItems: 20 });
const communities = z.array(storableString).meta({ maxItems: 50, description: MEANING.subreddits });
const NAME_MEANING = 'A name of your choice.';
const WEBHOOK_URL = 'Where matches are sent: an `https://` URL that resolves to a public address.';

/** Responses have `include_posts`; requests may use that name or `posts`. Where both are given, they must agree. */
interface Kinds {
  posts?: boolean | undefined;
  comments?: boolean | undefined;
  include_posts?: boolean | undefined;
  include_comments?: boolean | undefined;
}

function checkKinds(given: Kinds, context: z.RefinementCtx): void {
  for (const kind of ['posts', 'comments'] as const) {
    const [plain, included] = [given[kind], given[`include_${kind}`]];
    if (plain === undefined || included === undefined || plain === included) continue;
    const message = `must equal ${kind}, which means the same; send only one of them`;
    context.addIssue({ code: 'custom', path: [`include_${kind}`], message });
  }
}

const included = (name: string) =>
  flag.describe(`The same as \`${name}\`, by its name in responses. If both are sent, they must be equal.`);
const kinds = {
  posts: flag.describe(MEANING.posts),
  comments: flag.describe(MEANING.comments),
  include_posts: included('posts'),
  include_comments: included('comments'),
};
const webhookKindMeaning = 'The kind of webhook. Default: detected from the URL.';

const newSettings = {
  name: givenName.describe(NAME_MEANING),
  keywords: terms.optional().describe(MEANING.keywords),
  exclude: terms.default([]).describe(MEANING.exclude),
  subreddits: communities.default([]),
  ...kinds,
  posts: kinds.posts.meta({ default: true }),
  comments: kinds.comments.meta({ default: true }),
  nsfw: z.boolean().default(false).describe(MEANING.nsfw),
  ...refinementChanges,
  webhook_url: storableString
    .trim()
    .optional()
    .meta({ description: WEBHOOK_URL, format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]://' }),
  webhook_kind: webhookKind.optional().describe(webhookKindMeaning),
  ...optionChanges,
};

const KEYWORDS_REQUIRED = {
  path: ['keywords'],
  message: 'is required',
  // Also when other fields are wrong, so that it is named together with them.
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null && !Array.isArray(value),
};
const hasTerms = ({ keywords, terms }: { keywords?: unknown; terms?: unknown[] | null | undefined }): boolean =>
  keywords !== undefined || (terms?.length ?? 0) > 0;

/** Replaces the two names of each kind by the one that is stored. */
function plainKinds<Body extends Kinds>({ include_posts: posts, include_comments: comments, ...body }: Body) {
  return { ...body, posts: body.posts ?? posts ?? true, comments: body.comments ?? comments ?? true };
}

/**
 * Body of POST /v1/monitors. It checks shapes only; the service validates terms, names, languages and webhooks.
 */
export const createMonitorBody = z
  .strictObject({ ...newSettings, backfill_hours: backfillHours.optional() })
  .refine(hasTerms, KEYWORDS_REQUIRED)
  .superRefine(checkKinds)
  .transform(plainKinds)
  .meta({
    id: 'CreateMonitor',
    ...example({
      name: 'French press',
      keywords: ['french press', 'コーヒーミル'],
      exclude: ['giveaway'],
      subreddits: ['r/Coffee', 'espresso'],
      webhook_url: 'https://example.com/hooks/forum',
    }),
  });

/** The settings of a monitor that is not created, in requests about what its rule finds. */
export const unsavedSettings = z
  .strictObject({ ...newSettings, name: givenName.optional() })
  .refine(hasTerms, KEYWORDS_REQUIRED)
  .superRefine(checkKinds)
  .transform(plainKinds);

export type UnsavedSettings = z.output<typeof unsavedSettings>;

/** Body of PATCH /v1/monitors/{id}. Absent fields do not change; null or an empty URL removes the webhook. */
export const patchMonitorBody = z
  .strictObject({
    name: givenName.optional().describe(NAME_MEANING),
    keywords: terms.optional().describe(MEANING.keywords),
    exclude: terms.optional().describe(MEANING.exclude),
    subreddits: communities.optional(),
    ...kinds,
    nsfw: z.boolean().optional().describe(MEANING.nsfw),
    ...refinementChanges,
    webhook_url: storableString
      .trim()
      .nullable()
      .optional()
      .describe(`${WEBHOOK_URL} null or an empty string removes the webhook.`),
    webhook_kind: webhookKind.nullable().optional().describe(`${webhookKindMeaning} null: detect it again.`),
    ...optionChanges,
  })
  .superRefine(checkKinds)
  .transform(({ include_posts: posts, include_comments: comments, ...body }) => ({
    ...body,
    posts: body.posts ?? posts,
    comments: body.comments ?? comments,
  }))
  .meta({
    id: 'PatchMonitor',
    ...example({ keywords: ['french press', 'hand grinder'], languages: null, webhook_url: null }),
  });

export const muteKind = z.enum(['subreddit', 'author', 'thread']).meta({
  description: 'What to mute: a community, an account, or a post with its comments.',
});
export type MuteKind = z.infer<typeof muteKind>;

/** A mute in responses: what a monitor does not record, whatever its rule says. */
export const monitorMute = z
  .strictObject({
    id: z.string().meta(example('mute_7h2n4x9b3c6d')),
    kind: muteKind,
    value: z
      .string()
      .describe('The normalized value: a lower-case name without `r/` or `u/`, or a post id with `t3_`.')
      .meta(example('coffeeswap')),
    created_at: timestamp,
  })
  .meta({ id: 'MonitorMute' });

export type MonitorMute = z.infer<typeof monitorMute>;

/** Response of GET /v1/monitors/{id}/mutes. */
export const muteList = z
  .strictObject({
    items: z.array(monitorMute).describe('Oldest first.'),
    limit: count.describe('How many mutes a monitor can have.').meta(example(500)),
  })
  .meta({ id: 'MuteList' });

/** Response of POST /v1/monitors/{id}/mutes. */
export const muteAnswer = z.strictObject({ mute: monitorMute }).meta({ id: 'MuteAnswer' });

/** Response of DELETE /v1/monitors/{id}/mutes/{mute_id}. */
export const muteDeleted = z.strictObject({ status: z.literal('deleted') }).meta({ id: 'MuteDeleted' });

/** Body of POST /v1/monitors/{id}/mutes. The service checks that the value fits its kind. */
export const createMuteBody = z
  .strictObject({
    kind: muteKind,
    value: storableString.describe(
      'A community (with or without `r/`), an account (with or without `u/`), a post id (with or without `t3_`), or the URL of any of these.',
    ),
  })
  .meta({ id: 'CreateMute', ...example({ kind: 'subreddit', value: 'r/CoffeeSwap' }) });
