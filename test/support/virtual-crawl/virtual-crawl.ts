import type { CommunityRate } from '../../../shared/crawl/community-rates.ts';
import type { AuditSample } from '../../../shared/crawl/rules/coverage.ts';
import { DEFAULT_SHARES } from '../../../shared/forum-client/lanes.ts';
import type { BudgetShares } from '../../../shared/forum-client/lanes.ts';
import { rateAt } from '../forum-model/forum-options.ts';
import type { ForumOptions } from '../forum-model/forum-options.ts';
import { ForumReader } from '../forum-model/forum-reader.ts';
import { Forum } from '../forum-model/forum.ts';
import { Random } from '../forum-model/random.ts';
import { EventQueue, Network } from './network.ts';
import type { Fault } from './network.ts';
import { Sightings } from './sightings.ts';
import type { Fresh } from './sightings.ts';
import { VirtualProcess } from './virtual-process.ts';
import type { VirtualSource } from './virtual-process.ts';

const EXCHANGE_MS = 500;
const CHECKPOINT_MS = 2_000;
/** A lease lasts 4 s and standby processes ask for it every half second. */
const TAKE_OVER_MS = 4_500;

/** A crawler process that is killed, in milliseconds since the start. */
export interface Kill {
  process: number;
  atMs: number;
}

export interface CrawlOptions {
  clients: number;
  processes: number;
  roundTripMs: readonly [number, number];
  faults: readonly Fault[];
  kills: readonly Kill[];
  shares: BudgetShares;
}

/** One crawler process with four clients. */
export const ONE_CRAWLER: CrawlOptions = {
  clients: 4,
  processes: 1,
  roundTripMs: [100, 300],
  faults: [],
  kills: [],
  shares: DEFAULT_SHARES,
};

/** What a source is built from. */
export interface SourceContext {
  forum: Forum;
  reader: ForumReader;
  sightings: Sightings;
  process: VirtualProcess;
  /** The rates of communities, which all processes share. */
  rates: VirtualCommunityRates;
  /** Where sources record what they may have missed. */
  gaps: VirtualGap[];
  /** Where the audit stores what it measured. */
  audited: AuditedTime[];
}

/** A stretch of a listing that a source may have missed; times in milliseconds since 1970. */
export interface VirtualGap {
  source: string;
  afterAt: number | undefined;
  beforeAt: number | undefined;
  communities?: readonly string[];
}

/** A window of the audit, and what it should have found: the share that other sources had seen. */
export interface AuditedTime {
  start: number;
  end: number;
  samples: readonly AuditSample[];
  truth: { seen: number; total: number };
}

export type BuildSource = (context: SourceContext) => VirtualSource;

/** Crawlers that read a forum in virtual time. */
export class VirtualCrawl {
  readonly forum: Forum;
  readonly sightings: Sightings;
  readonly queue: EventQueue;
  /** Calls by purpose. */
  readonly calls = new Map<string, number>();
  readonly processes: VirtualProcess[];
  readonly gaps: VirtualGap[] = [];
  readonly audited: AuditedTime[] = [];
  private readonly reader: ForumReader;
  private readonly rates: VirtualCommunityRates;
  private readonly build = new Map<string, BuildSource>();
  private readonly positions = new Map<string, unknown>();

  constructor(forumOptions: ForumOptions, options: CrawlOptions, sources: readonly BuildSource[]) {
    this.forum = new Forum(forumOptions);
    this.reader = new ForumReader(this.forum);
    this.sightings = new Sightings(this.forum);
    // As if a crawler had run before: the archive holds the posts, from which the sweep and the audit start.
    this.sightings.addPosts([...this.forum.posts.visibleAt(0)], forumOptions.startsAt);
    this.rates = new VirtualCommunityRates(this.forum, this.sightings);
    this.queue = new EventQueue(forumOptions.startsAt);
    const random = new Random(forumOptions.seed + 1);
    const network = new Network(this.forum, this.reader, this.queue, { ...options, seed: forumOptions.seed + 2 });
    const { queue, sightings, calls } = this;
    const deps = { queue, network, sightings, random, calls, clients: options.clients, shares: options.shares };
    this.processes = Array.from({ length: options.processes }, () => new VirtualProcess(deps));
    for (const [index, build] of sources.entries()) this.assign(build, this.processes[index % options.processes]!);
    if (options.processes > 1) queue.at(queue.now, (now) => this.exchange(now));
    for (const { process, atMs } of options.kills) {
      queue.at(forumOptions.startsAt + atMs, () => this.kill(this.processes[process]!));
    }
  }

  runUntil(atMs: number): void {
    this.queue.runUntil(this.forum.options.startsAt + atMs);
    this.forum.advance(atMs);
  }

  private assign(build: BuildSource, process: VirtualProcess): void {
    const { forum, reader, sightings, rates, gaps, audited } = this;
    const source = build({ forum, reader, sightings, process, rates, gaps, audited });
    this.build.set(source.name, build);
    process.hold(source, this.positions.get(source.name));
  }

  /** Kills a process; another one takes each of its sources over from the last checkpoint. */
  private kill(dead: VirtualProcess): void {
    dead.kill();
    this.queue.at(this.queue.now + TAKE_OVER_MS, () => {
      const alive = this.processes.filter(({ isAlive }) => isAlive);
      for (const [index, { name }] of dead.held().entries()) {
        this.assign(this.build.get(name)!, alive[index % alive.length]!);
      }
    });
  }

  private exchange(now: number): void {
    const alive = this.processes.filter(({ isAlive }) => isAlive);
    for (const one of alive) {
      one.exchange(
        alive.filter((other) => other !== one),
        now,
      );
    }
    // Each process saves its positions at its own moment; one moment for all is as good here.
    if ((now - this.forum.options.startsAt) % CHECKPOINT_MS < EXCHANGE_MS) this.saveCheckpoints();
    this.queue.at(now + EXCHANGE_MS, (later) => this.exchange(later));
  }

  private saveCheckpoints(): void {
    for (const process of this.processes) {
      if (!process.isAlive) continue;
      for (const source of process.held()) {
        this.positions.set(source.name, JSON.parse(JSON.stringify(source.position() ?? null)) ?? undefined);
      }
    }
  }
}

const DECAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;
/** A multiplicative hash (Knuth), which spreads communities of all ranks over the slices. */
const SPREAD = 2_654_435_761;

/** The table of rates that the crawlers learn: counts that decay by a factor of e a day. */
export class VirtualCommunityRates {
  private readonly forum: Forum;
  private readonly fresh: Fresh;
  private readonly comments: Float64Array;
  private readonly posts: Float64Array;
  private updatedAt = 0;

  /** Begins with what days of crawling left: each community's count of a day, as chance would have it. */
  constructor(forum: Forum, sightings: Sightings) {
    this.forum = forum;
    this.fresh = sightings.follow();
    const day = meanRate(forum) * DAY_SECONDS;
    const { comments } = forum.options;
    this.comments = forum.shares.map((share, rank) => counted(share * day * comments, rank));
    this.posts = forum.shares.map((share, rank) => counted(share * day * (1 - comments), rank + 1));
  }

  /** The communities of a slice, and their part in all comments. */
  read(slice: number, slices: number, nowMs: number): { communities: CommunityRate[]; share: number } {
    this.update(nowMs);
    const communities: CommunityRate[] = [];
    let mine = 0;
    let all = 0;
    for (const [community, comments] of this.comments.entries()) {
      all += comments;
      if ((Math.imul(community, SPREAD) >>> 16) % slices !== slice) continue;
      mine += comments;
      communities.push({
        subreddit: `c${community}`,
        comments: comments / DAY_SECONDS,
        posts: this.posts[community]! / DAY_SECONDS,
      });
    }
    return { communities, share: mine / all };
  }

  private update(nowMs: number): void {
    const left = Math.exp(-(nowMs - this.updatedAt) / DECAY_MS);
    this.updatedAt = nowMs;
    for (const column of [this.comments, this.posts]) {
      for (const [community, count] of column.entries()) column[community] = count * left;
    }
    const { posts, comments } = this.forum;
    for (const post of this.fresh.posts.splice(0)) this.posts[posts.community[post]!]! += 1;
    for (const index of this.fresh.comments.splice(0)) this.comments[posts.community[comments.post[index]!]!]! += 1;
  }
}

function meanRate({ options }: Forum): number {
  const hours = Array.from({ length: 24 }, (_, hour) => rateAt({ ...options.traffic, bursts: [] }, hour * 3_600_000));
  return hours.reduce((sum, rate) => sum + rate, 0) / hours.length;
}

/** A count with this mean: the mean, off by about its standard deviation in a pattern that differs by community. */
function counted(mean: number, pattern: number): number {
  const deviation = 2 * (((pattern * 0.618_033_988_75) % 1) - 0.5) * 1.7;
  return Math.max(0, Math.round(mean + deviation * Math.sqrt(mean)));
}
