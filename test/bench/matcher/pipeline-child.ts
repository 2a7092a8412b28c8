/**
 * The matcher's active monitors in a separate process, as in the service: loaded one by one, matched with batches of
 * items, and changed meanwhile.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { ActiveMonitors } from '../../../services/matcher/active-monitors.ts';
import type { EnteredItem } from '../../../services/matcher/recent-items.ts';
import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';
import type { BenchMonitor } from '../shared/matcher-monitors.ts';
import type { Pair } from './naive-pairs.ts';
import { percentiles } from '../shared/percentiles.ts';

export interface PipelineJob {
  /** JSON lines of BenchMonitor. */
  monitorsFile: string;
  /** JSON lines of MatchItem. */
  itemsFile: string;
  /** Pairs are returned for items whose number is divisible by this. */
  sampleEvery: number;
}

export interface PipelineMeasurement {
  monitors: number;
  items: number;
  matches: number;
  items_per_s: number;
  /** By the processor time of the thread. */
  items_per_cpu_s: number;
  load_ms: number;
  rss_mb: number;
  updates: number;
  update_p50_us: number | null;
  update_p99_us: number | null;
  update_max_us: number | null;
  /** The pairs of the sample before and after the updates, which revert every change. */
  pairs: Pair[];
  pairsAfterUpdates: Pair[];
}

/** Enough to measure processor time, which is counted in ticks; few enough not to matter for the memory. */
const BATCH = 2_000;
const WARM_UP_ITEMS = 20_000;
const CHANGED_MONITORS = 3_000;

process.once('message', (job: PipelineJob) => {
  void new Pipeline(job).run().then((result) => {
    process.send!(result);
    process.disconnect();
  });
});

class Pipeline {
  private readonly job: PipelineJob;
  private readonly monitors = new ActiveMonitors();
  /** The monitors that are changed later. */
  private readonly changing: BenchMonitor[] = [];
  private readonly sample = new Map<number, EnteredItem>();
  private version = 1;

  constructor(job: PipelineJob) {
    this.job = job;
  }

  async run(): Promise<PipelineMeasurement> {
    const loadMs = await this.load();
    await this.matchAll(WARM_UP_ITEMS);
    const matched = await this.matchAll(Number.POSITIVE_INFINITY);
    const rssMb = process.memoryUsage.rss() / 2 ** 20;
    const pairs = this.samplePairs();
    const updatesUs = this.update();
    const { p50, p99, max } = percentiles(updatesUs);
    return {
      monitors: this.monitors.size,
      items: matched.items,
      matches: matched.matches,
      items_per_s: matched.items / matched.seconds,
      items_per_cpu_s: matched.items / matched.processorSeconds,
      load_ms: loadMs,
      rss_mb: rssMb,
      updates: updatesUs.length,
      update_p50_us: p50,
      update_p99_us: p99,
      update_max_us: max,
      pairs,
      pairsAfterUpdates: this.samplePairs(),
    };
  }

  /** Returns the milliseconds of the monitors' own code, without reading the file. */
  private async load(): Promise<number> {
    let sumUs = 0;
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(this.job.monitorsFile) })) {
      const monitor = JSON.parse(line) as BenchMonitor;
      sumUs += microseconds(() => this.set(monitor.id, monitor.rule));
      if (number++ % 32 === 0 && this.changing.length < CHANGED_MONITORS) this.changing.push(monitor);
    }
    return sumUs / 1000;
  }

  private set(id: string, rule: Rule): void {
    this.monitors.set({ id, rule, version: this.version++, activeSinceMs: 0, versions: [] });
  }

  private async matchAll(
    maxItems: number,
  ): Promise<{ items: number; matches: number; seconds: number; processorSeconds: number }> {
    let items = 0;
    let matches = 0;
    let ms = 0;
    let processorMicros = 0;
    let batch: EnteredItem[] = [];
    const matchBatch = () => {
      const usageBefore = process.threadCpuUsage();
      const begun = performance.now();
      for (const entered of batch) matches += this.monitors.candidates(entered).length;
      ms += performance.now() - begun;
      const { user, system } = process.threadCpuUsage(usageBefore);
      processorMicros += user + system;
      batch = [];
    };
    for await (const line of createInterface({ input: createReadStream(this.job.itemsFile) })) {
      if (items === maxItems) break;
      const entered = enteredItem(JSON.parse(line) as MatchItem, items);
      if (items % this.job.sampleEvery === 0) this.sample.set(items, entered);
      items++;
      if (batch.push(entered) === BATCH) matchBatch();
    }
    matchBatch();
    return { items, matches, seconds: ms / 1000, processorSeconds: processorMicros / 1e6 };
  }

  private samplePairs(): Pair[] {
    return [...this.sample].flatMap(([item, entered]) =>
      this.monitors
        .candidates(entered)
        .map(({ monitor_id, matched_terms }) => ({ item, monitorId: monitor_id, matchedTerms: matched_terms })),
    );
  }

  /**
   * Gives each monitor its neighbour's rule, removes it, and adds it again with its own rule. Matches an item after
   * each step.
   */
  private update(): number[] {
    const updatesUs: number[] = [];
    const items = [...this.sample.values()];
    const matchOne = () => this.monitors.candidates(items[updatesUs.length % items.length]!);
    for (const [position, { id, rule }] of this.changing.entries()) {
      const other = this.changing[(position + 1) % this.changing.length]!;
      updatesUs.push(microseconds(() => this.set(id, other.rule)));
      matchOne();
      updatesUs.push(microseconds(() => this.monitors.remove(id)));
      matchOne();
      updatesUs.push(microseconds(() => this.set(id, rule)));
      matchOne();
    }
    return updatesUs;
  }
}

function microseconds(call: () => void): number {
  const begun = performance.now();
  call();
  return (performance.now() - begun) * 1000;
}

const TIME = '2026-01-01T00:00:00.000Z';

function enteredItem({ kind, title, text, subreddit, nsfw }: MatchItem, number: number): EnteredItem {
  const id = number.toString(36);
  const item: ForumItem = {
    v: 1,
    thing_id: `${kind === 'post' ? 't3' : 't1'}_${id}`,
    kind,
    post_id: id,
    parent_id: kind === 'post' ? null : `t3_${id}`,
    subreddit,
    author: `author${number}`,
    title,
    body: text,
    permalink: `https://forum.example.com/r/${subreddit}/comments/${id}/`,
    nsfw,
    created_utc: TIME,
    source: 'replay',
    replay: false,
    first_seen_at: TIME,
    score: 1,
    num_comments: null,
    url: null,
  };
  return { offset: BigInt(number), enteredAtMs: Date.parse(TIME), item };
}
