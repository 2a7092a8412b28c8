import type { CommunityRate } from '../../../shared/crawl/community-rates.ts';
import type { Forum } from '../forum-model/forum.ts';
import { rateAt } from '../forum-model/traffic.ts';
import type { Fresh, Sightings } from './sightings.ts';

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
