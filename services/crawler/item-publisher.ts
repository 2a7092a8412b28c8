import { z } from 'zod';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import { FORUM_COMMENTS, FORUM_POSTS } from '../../schemas/messages/topics.ts';
import { withLanguage } from '../../shared/crawl/load-language-detector.ts';
import type { LanguageDetector } from '../../shared/crawl/load-language-detector.ts';
import { fullnameOf, hasPostDetails, parseListing, thingToForumItem } from '../../shared/forum-client/parse-things.ts';
import type { CommentData, PostOfComment, Thing } from '../../shared/forum-client/parse-things.ts';
import type { Upstream } from '../../shared/forum-client/upstream-client.ts';
import { UpstreamError, whenBudgetAllows } from '../../shared/forum-client/upstream-error.ts';
import { PublishRefused } from '../../shared/kafka/kafka-unavailable.ts';
import type { OutgoingRecord, Publisher } from '../../shared/kafka/publisher.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { retry } from '../../shared/runtime/retry.ts';
import { traceHeaders } from '../../shared/runtime/tracing.ts';
import type { TraceSpan, Tracing } from '../../shared/runtime/tracing.ts';
import type { CommunityCounts } from './community-counts.ts';
import type { CrawlSource, Fetched } from './crawl-source.ts';
import { MalformedItems } from './malformed-items.ts';
import type { RecentPosts, SeenItems } from './seen-items.ts';

interface ItemPublisherDeps {
  publisher: Pick<Publisher, 'publishAll'>;
  lookup: PostLookup;
  seen: SeenItems;
  posts: RecentPosts;
  counts: Pick<CommunityCounts, 'addItem'>;
  detectLanguage: LanguageDetector;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  siteUrl: string;
  tracing?: Tracing | undefined;
}

type Origin = Pick<CrawlSource, 'label' | 'replay'>;

/** A call that is publishing items. */
interface Publishing {
  done: Promise<void>;
  /** Aborted when its source stops. */
  signal: AbortSignal;
}

/** Publishes the items of every source: dedupe, enrich, detect the language, publish, and only then mark as seen. */
export class ItemPublisher {
  private readonly deps: ItemPublisherDeps;
  private readonly malformed: MalformedItems;
  /** By the name of an item the call that is publishing it. Pages that overlap share their items. */
  private readonly publishing = new Map<string, Publishing>();

  constructor(deps: ItemPublisherDeps) {
    this.deps = deps;
    this.malformed = new MalformedItems(deps);
  }

  /**
   * Resolves when the broker has acknowledged every unseen item, including those that another call is publishing;
   * fails if that call fails, and publishes them itself if the source of that call stops. Waits while the broker is
   * unavailable. Comments whose post must be fetched are published after the others, so that they do not delay them.
   */
  async publish(fetched: Fetched, origin: Origin, signal: AbortSignal): Promise<void> {
    let others = await this.publishUnseen(fetched.things, fetched.seenAt, origin, signal);
    await this.malformed.keep(fetched.malformed ?? [], fetched.seenAt, origin.label, signal);
    while (others.size > 0) {
      others = await this.publishUnseen(await itemsLeftBy(others), fetched.seenAt, origin, signal);
    }
  }

  /** Returns the items that other calls are publishing. */
  private async publishUnseen(
    things: readonly Thing[],
    seenAt: number,
    origin: Origin,
    signal: AbortSignal,
  ): Promise<Map<Publishing, Thing[]>> {
    const others = new Map<Publishing, Thing[]>();
    const fresh = this.unseen(things, origin, others);
    if (fresh.length === 0) return others;
    const own = { done: this.publishFresh(fresh, seenAt, origin, signal), signal };
    const names = fresh.map(fullnameOf);
    for (const name of names) this.publishing.set(name, own);
    try {
      await own.done;
    } finally {
      for (const name of names) this.publishing.delete(name);
    }
    return others;
  }

  private async publishFresh(
    fresh: readonly Thing[],
    seenAt: number,
    origin: Origin,
    signal: AbortSignal,
  ): Promise<void> {
    const { posts, lookup } = this.deps;
    for (const thing of fresh) posts.remember(thing);
    const orphans: CommentData[] = [];
    const ready = fresh.filter((thing) => {
      if (origin.replay || thing.kind === 't3' || hasPostDetails(thing.data) || posts.get(thing.data.post_id))
        return true;
      orphans.push(thing.data);
      return false;
    });
    await this.send(ready, (postId) => posts.get(postId), seenAt, origin, signal);
    if (orphans.length === 0) return;
    const found = await lookup.find(orphans, signal);
    const late = orphans.map((data): Thing => ({ kind: 't1', data }));
    await this.send(late, (postId) => found.get(postId), seenAt, origin, signal);
  }

  /** The first copy of each item that was not seen before. Adds to `others` what another call is publishing. */
  private unseen(things: readonly Thing[], origin: Origin, others: Map<Publishing, Thing[]>): Thing[] {
    const fresh = new Map<string, Thing>();
    for (const thing of things) {
      const name = fullnameOf(thing);
      const other = this.publishing.get(name);
      if (other) others.set(other, [...(others.get(other) ?? []), thing]);
      if (other || fresh.has(name) || this.deps.seen.has(name))
        this.deps.metrics.crawlerDuplicates.inc({ source: origin.label });
      else fresh.set(name, thing);
    }
    return [...fresh.values()];
  }

  private async send(
    things: readonly Thing[],
    postOf: (postId: string) => PostOfComment | undefined,
    firstSeenAt: number,
    origin: Origin,
    signal: AbortSignal,
  ): Promise<void> {
    if (things.length === 0) return;
    const { publisher, logger, siteUrl } = this.deps;
    const itemOrigin = { source: origin.label, replay: origin.replay, firstSeenAt, siteUrl };
    const items = things.map((thing) => {
      const post = thing.kind === 't1' ? postOf(thing.data.post_id) : undefined;
      return withLanguage(thingToForumItem(thing, itemOrigin, post), this.deps.detectLanguage, this.onUndetected);
    });
    const spans = this.beginSpans(items);
    const recordsOf = (kind: ForumItem['kind']) =>
      items.filter((item) => item.kind === kind).map((item) => toRecord(item, spans?.get(item)));
    const topics = [
      { topic: FORUM_POSTS.name, records: recordsOf('post') },
      { topic: FORUM_COMMENTS.name, records: recordsOf('comment') },
    ].filter(({ records }) => records.length > 0);
    await retry(() => publisher.publishAll(topics), {
      what: 'publishing forum items',
      logger,
      signal,
      isRetryable: (error) => !(error instanceof PublishRefused),
    }).catch((error: unknown) => {
      spans?.forEach((span) => span.end({ error: 'not published' }));
      throw error;
    });
    spans?.forEach((span) => span.end());
    this.markSeen(items, origin);
  }

  /** One trace begins here for each item that the sampling chooses. */
  private beginSpans(items: readonly ForumItem[]): Map<ForumItem, TraceSpan> | undefined {
    const { tracing } = this.deps;
    if (tracing === undefined) return undefined;
    const spans = new Map<ForumItem, TraceSpan>();
    for (const item of items) {
      const attributes = { 'forum.thing_id': item.thing_id, 'forum.source': item.source };
      const span = tracing.begin('crawl', { kind: 'producer', attributes, startTime: Date.parse(item.first_seen_at) });
      if (span) spans.set(item, span);
    }
    return spans;
  }

  private readonly onUndetected = (error: unknown): void => {
    this.deps.metrics.crawlerUndetected.inc();
    this.deps.logger.error({ err: error }, 'the language of an item could not be detected');
  };

  private markSeen(items: readonly ForumItem[], origin: Origin): void {
    const { seen, counts, metrics, clock } = this.deps;
    const now = clock();
    for (const item of items) {
      seen.add(item.thing_id);
      metrics.crawlerItems.inc({ source: origin.label, kind: item.kind });
      if (item.kind === 'comment' && item.title === '') metrics.crawlerIncomplete.inc();
      // A replayed item says nothing about the latency of this service, or about what goes on now.
      if (!origin.replay) {
        counts.addItem(item.kind, item.subreddit);
        metrics.crawlerLag.observe({ source: origin.label }, Math.max(0, now - Date.parse(item.created_utc)) / 1000);
      }
    }
  }
}

/** Waits for other calls; returns the items of those that were stopped. @throws the error of one that failed */
async function itemsLeftBy(others: ReadonlyMap<Publishing, Thing[]>): Promise<Thing[]> {
  const left: Thing[] = [];
  for (const [{ done, signal }, things] of others) {
    try {
      await done;
    } catch (error) {
      if (!signal.aborted) throw error;
      left.push(...things);
    }
  }
  return left;
}

function toRecord(item: ForumItem, span: TraceSpan | undefined): OutgoingRecord {
  return { key: item.thing_id, value: JSON.stringify(item), ...traceHeaders(span) };
}

const IDS_PER_CALL = 100;
/** The pause before the second attempt: the forum's own caches may not know a new post yet. */
const SECOND_TRY_MS = 500;
/** How long an attempt waits for our own budget of calls, which is no answer of the forum. */
const BUDGET_WAIT_MS = 5_000;

/** Communities in a response of /api/info. A community's NSFW flag replaces that of a post that cannot be fetched. */
const communities = z.object({
  data: z.object({ children: z.array(z.object({ kind: z.string(), data: z.unknown() })) }),
});
const community = z.object({ name: z.string(), over18: z.boolean() });

/** Fetches, in batches, the posts of comments that do not carry the title and NSFW flag of their post. */
export class PostLookup {
  private readonly upstream: Pick<Upstream, 'get'>;
  private readonly posts: RecentPosts;
  private readonly logger: Logger;

  constructor(upstream: Pick<Upstream, 'get'>, posts: RecentPosts, logger: Logger) {
    this.upstream = upstream;
    this.posts = posts;
    this.logger = logger;
  }

  /**
   * Returns the posts of these comments by bare id. A post that cannot be fetched in two attempts gets an empty title
   * and its community's NSFW flag; if that is unknown too, the post is missing from the result. Failures of the forum
   * are logged, not thrown.
   */
  async find(comments: readonly CommentData[], signal: AbortSignal): Promise<Map<string, PostOfComment>> {
    const found = new Map<string, PostOfComment>();
    const postIds = new Set(comments.map((comment) => comment.post_id));
    await this.fetch(
      [...postIds].map((id) => `t3_${id}`),
      found,
      signal,
    );
    const missing = comments.filter((comment) => !found.has(comment.post_id));
    if (missing.length === 0) return found;
    await delay(SECOND_TRY_MS, signal);
    const names = missing.flatMap(({ post_id: post, subreddit_id: home }) => [`t3_${post}`, ...(home ? [home] : [])]);
    const flags = await this.fetch([...new Set(names)], found, signal);
    for (const { post_id: post, subreddit_id: home } of missing) {
      const nsfw = home ? flags.get(home) : undefined;
      if (!found.has(post) && nsfw !== undefined) found.set(post, { title: '', nsfw });
    }
    return found;
  }

  private call(id: string, signal: AbortSignal): Promise<unknown> {
    const call = { endpoint: 'info', lane: 'live', signal } as const;
    return whenBudgetAllows(() => this.upstream.get('/api/info', { id }, call), { maxWaitMs: BUDGET_WAIT_MS, signal });
  }

  /** Adds the posts to `found`; returns the NSFW flags of the communities by fullname. */
  private async fetch(
    names: readonly string[],
    found: Map<string, PostOfComment>,
    signal: AbortSignal,
  ): Promise<Map<string, boolean>> {
    const flags = new Map<string, boolean>();
    for (let start = 0; start < names.length; start += IDS_PER_CALL) {
      const id = names.slice(start, start + IDS_PER_CALL).join(',');
      try {
        const body = await this.call(id, signal);
        for (const thing of parseListing(body).things) {
          if (thing.kind !== 't3') continue;
          this.posts.remember(thing);
          found.set(thing.data.id, { title: thing.data.title, nsfw: thing.data.over_18 });
        }
        for (const [name, nsfw] of communityFlags(body)) flags.set(name, nsfw);
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        this.logger.warn({ err: error, posts: names.length }, 'the posts of comments could not be fetched');
      }
    }
    return flags;
  }
}

function communityFlags(body: unknown): [string, boolean][] {
  const answer = communities.safeParse(body);
  if (!answer.success) return [];
  return answer.data.data.children.flatMap((child): [string, boolean][] => {
    const parsed = community.safeParse(child.data);
    return child.kind === 't5' && parsed.success ? [[parsed.data.name, parsed.data.over18]] : [];
  });
}
