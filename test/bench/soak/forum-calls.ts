const LANE_CALLS = /^upstream_lane_calls_total\{lane="([^"]+)",outcome="taken"\} (\S+)$/gm;
const FOLLOWED_POSTS = /^crawler_followed_posts (\S+)$/m;

interface Sample {
  /** Calls since the sample before, by lane. */
  calls: ReadonlyMap<string, number>;
  followedPosts: number;
}

/** What the crawler processes ask the forum, by lane, and how many posts they follow, over time. */
export class ForumCalls {
  readonly #addresses: readonly string[];
  readonly #before = new Map<string, number>();
  readonly #samples: Sample[] = [];

  /** `addresses` are those of the processes' metrics. */
  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  async sample(): Promise<void> {
    const calls = new Map<string, number>();
    let followedPosts = 0;
    for (const address of this.#addresses) {
      const text = await fetch(new URL('/metrics', address)).then(
        (response) => response.text(),
        () => '',
      );
      for (const [, lane, value] of text.matchAll(LANE_CALLS)) {
        const made = this.#madeSince(`${address} ${lane}`, Number(value));
        calls.set(lane!, (calls.get(lane!) ?? 0) + made);
      }
      followedPosts += Number(FOLLOWED_POSTS.exec(text)?.[1] ?? 0);
    }
    this.#samples.push({ calls, followedPosts });
  }

  /** @param minutes the time of all samples */
  report(minutes: number): object[] {
    const lanes = [...new Set(this.#samples.flatMap(({ calls }) => [...calls.keys()]))].toSorted();
    const seconds = (minutes * 60) / 10;
    const perSecond = (lane: string): number[] =>
      this.#tenths().map((samples) => {
        const made = samples.reduce((sum, { calls }) => sum + (calls.get(lane) ?? 0), 0);
        return Math.round((10 * made) / seconds) / 10;
      });
    const rates = lanes.map((lane) => [lane, perSecond(lane)] as const);
    const followed = this.#tenths().map((samples) => samples.at(-1)?.followedPosts);
    const run = 'calls to the forum a second, by tenth';
    return [{ run, ...(Object.fromEntries(rates) as Record<string, number[]>), followed_posts: followed }];
  }

  /** A counter that fell belongs to a process that was started again. */
  #madeSince(counter: string, value: number): number {
    const before = this.#before.get(counter) ?? 0;
    this.#before.set(counter, value);
    return value < before ? value : value - before;
  }

  #tenths(): Sample[][] {
    const samples = this.#samples;
    const at = (tenth: number) => Math.round((tenth * samples.length) / 10);
    return Array.from({ length: 10 }, (_, tenth) => samples.slice(at(tenth), at(tenth + 1)));
  }
}
