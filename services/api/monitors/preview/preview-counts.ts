import type { PreviewAnswer, PreviewSample } from '../../../../schemas/api/monitors/preview.ts';
import type { MonitorMatchResult } from '../../../../shared/matching/monitor-index.ts';
import type { ArchivedItem } from '../../../../shared/stores/archive/archived-item.ts';
import { MatchWords } from '../../../../shared/domain/suggestions/match-words.ts';
import { sampleResource } from './sample-resource.ts';

const SAMPLES = 20;
const MOST_SUBREDDITS = 50;

/** What a preview counts of the matches of one rule, which come newest first. */
export class PreviewCounts {
  total = 0;
  /** The newest ones. */
  readonly samples: PreviewSample[] = [];
  readonly words = new MatchWords();
  readonly subreddits = new Map<string, number>();
  readonly #days = new Map<string, number>();
  readonly #keywords = new Map<string, number>();
  /** With thread_once: the threads of the current day, and how many there were each day. */
  readonly #threads = new Set<string>();
  readonly #sent = new Map<string, number>();
  readonly #threadOnce: boolean;
  #day = '';

  /** @param threadOnce whether a thread counts once a day where matches are counted that would be sent */
  constructor(threadOnce: boolean) {
    this.#threadOnce = threadOnce;
  }

  add(item: ArchivedItem, match: Pick<MonitorMatchResult, 'matchedTerms' | 'positions'>): void {
    const day = item.firstSeenAt.slice(0, 'YYYY-MM-DD'.length);
    this.total += 1;
    increase(this.#days, day);
    for (const term of match.matchedTerms) increase(this.#keywords, term);
    increase(this.subreddits, item.content.subreddit);
    if (this.samples.length < SAMPLES) this.samples.push(sampleResource(item, match));
    if (this.#isSent(day, item.content.post_id)) increase(this.#sent, day);
    this.words.add(item.content);
  }

  /** UTC days with more matches to be sent than `cap`, the newest first. */
  daysBeyond(cap: number): string[] {
    return [...this.#sent].filter(([, count]) => count > cap).map(([day]) => day);
  }

  lists(): Pick<PreviewAnswer, 'by_day' | 'by_keyword' | 'by_subreddit'> {
    return {
      by_day: [...this.#days].map(([day, count]) => ({ day, count })),
      by_keyword: mostFrequent(this.#keywords).map(([keyword, count]) => ({ keyword, count })),
      by_subreddit: mostFrequent(this.subreddits)
        .slice(0, MOST_SUBREDDITS)
        .map(([subreddit, count]) => ({ subreddit, count })),
    };
  }

  #isSent(day: string, postId: string): boolean {
    if (!this.#threadOnce) return true;
    if (day !== this.#day) this.#threads.clear();
    this.#day = day;
    if (this.#threads.has(postId)) return false;
    this.#threads.add(postId);
    return true;
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The highest count first; equal ones in the order of their keys. */
function mostFrequent(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
}
