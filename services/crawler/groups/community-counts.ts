import type { CommunityCount } from '../../../shared/stores/crawl/community-rates.ts';

/** About the number of communities that are active in ten minutes of an outage of Postgres. */
const MAX_COMMUNITIES = 50_000;

/** What this process published of each community since it was last written to Postgres. */
export class CommunityCounts {
  private counts = new Map<string, CommunityCount>();

  /** Counts a published thing. */
  addThing(kind: 'post' | 'comment', subreddit: string): void {
    const count = this.countOf(subreddit);
    if (!count) return;
    if (kind === 'post') count.posts += 1;
    else count.comments += 1;
  }

  /** Counts a comment that a group showed, and whether the listing of all communities had not shown it. */
  addCheck(subreddit: string, isMissed: boolean): void {
    const count = this.countOf(subreddit);
    if (!count) return;
    count.checked += 1;
    if (isMissed) count.missed += 1;
  }

  /** Returns all counts, and begins again at zero. */
  take(): CommunityCount[] {
    const counts = [...this.counts.values()];
    this.counts = new Map();
    return counts;
  }

  /** Adds counts that could not be written. */
  putBack(counts: readonly CommunityCount[]): void {
    for (const { subreddit, comments, posts, checked, missed } of counts) {
      const count = this.countOf(subreddit);
      if (!count) continue;
      count.comments += comments;
      count.posts += posts;
      count.checked += checked;
      count.missed += missed;
    }
  }

  private countOf(subreddit: string): CommunityCount | undefined {
    const known = this.counts.get(subreddit);
    if (known || subreddit === '' || this.counts.size >= MAX_COMMUNITIES) return known;
    const added = { subreddit, comments: 0, posts: 0, checked: 0, missed: 0 };
    this.counts.set(subreddit, added);
    return added;
  }
}
