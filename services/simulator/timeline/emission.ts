import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '../content/catalog.ts';
import type { EmittedLog, Position } from './position.ts';
import { itemOfSlot, emissionTime } from './timeline.ts';
import type { RecentIndex } from './recent-index.ts';
import type { Injected, Run, Timeline } from './timeline.ts';

/** How many seconds of slots a block reserves. A kill -9 loses at most one block. */
const BLOCK_SECONDS = 2;
const MIN_BLOCK_SLOTS = 64;
/** After a longer pause (a suspended machine) a new run begins, instead of a burst of overdue items. */
const MAX_PAUSE_MS = 30_000;
const MAX_SLOTS_PER_STEP = 20_000;

interface EmissionDeps {
  timeline: Timeline;
  position: Position;
  catalog: Catalog;
  index: RecentIndex;
  log: EmittedLog | undefined;
  directory: string;
  now: () => number;
  count: number | undefined;
}

/**
 * No crash loses an item that a client saw: (1) reserve slots, (2) write the position, (3) write the log, (4) serve.
 */
export class Emission {
  private readonly deps: EmissionDeps;
  private lastAdvance: number;
  readonly firstSlot: number;
  emitted = 0;

  constructor(deps: EmissionDeps) {
    this.deps = deps;
    this.lastAdvance = deps.now();
    this.firstSlot = deps.timeline.frontier;
  }

  private get run(): Run {
    return this.deps.timeline.runs.at(-1)!;
  }

  /** Emits all items up to the current time, which it returns. Each request and a timer call it. */
  advance(): number {
    const now = this.deps.now();
    const { timeline } = this.deps;
    if (now - this.lastAdvance > MAX_PAUSE_MS && this.run.rate > 0) this.beginRun(timeline.frontier, now);
    this.lastAdvance = now;
    while (this.targetFrontier(now) > timeline.frontier) this.emitUpTo(this.targetFrontier(now), now);
    this.deps.index.add([], now);
    return now;
  }

  private targetFrontier(now: number): number {
    const { frontier } = this.deps.timeline;
    const { run } = this;
    if (run.rate === 0 || this.finished) return frontier;
    let target = run.first + Math.floor(((now - run.at) * run.rate) / 1000);
    while (target > run.first && emissionTime(run, target - 1) > now) target--;
    return Math.max(frontier, Math.min(target, frontier + MAX_SLOTS_PER_STEP));
  }

  get finished(): boolean {
    return this.deps.count !== undefined && this.emitted >= this.deps.count;
  }

  private emitUpTo(target: number, now: number): void {
    const { timeline, position } = this.deps;
    const slots: number[] = [];
    let end = timeline.frontier;
    while (end < target && !(this.deps.count !== undefined && this.emitted + slots.length >= this.deps.count)) {
      if (!timeline.isHole(this.run, end)) slots.push(end);
      end++;
    }
    if (end === timeline.frontier) return;
    if (end > position.reserved) position.reserve(end + this.blockSize());
    this.makeVisible(slots, end, now);
  }

  private blockSize(): number {
    return Math.max(MIN_BLOCK_SLOTS, Math.ceil(this.run.rate * BLOCK_SECONDS));
  }

  private makeVisible(slots: readonly number[], frontier: number, now: number): void {
    const { timeline, position, log, index } = this.deps;
    timeline.frontier = frontier;
    position.advance(frontier);
    index.add(slots, now);
    log?.append(slots.map((k) => logLineOf(this.deps, k)));
    this.emitted += slots.length;
  }

  private beginRun(first: number, at: number, rate = this.run.rate): void {
    const { runs, frontier } = this.deps.timeline;
    const before = runs.pop()!;
    before.end = frontier;
    if (before.end > before.first) runs.push(before);
    runs.push({ ...before, first, end: null, at, rate });
    this.deps.position.reserve(Math.max(this.deps.position.reserved, first + this.blockSize()));
  }

  /** In the next slot of its kind, which it returns; skipped ones become holes. Later items keep their schedule. */
  inject(item: Omit<Injected, 'k' | 'at' | 'ids'>): number {
    const now = this.advance();
    const { timeline, directory } = this.deps;
    const { run } = this;
    let k = timeline.frontier;
    while (itemOfSlot(timeline.seed, k).kind !== item.kind) k++;
    const nextDue = emissionTime(run, timeline.frontier);
    this.beginRun(k + 1, run.rate === 0 ? run.at : nextDue - 1000 / run.rate);
    const injected: Injected = { ...item, k, at: now, ids: run.ids };
    appendFileSync(join(directory, 'simulator-injected.jsonl'), `\n${JSON.stringify(injected)}\n`);
    timeline.injected.set(k, injected);
    this.makeVisible([k], k + 1, now);
    return k;
  }

  /** Emits this many slots a second from now on, until it is changed again or the process starts again. */
  setRate(rate: number): void {
    const now = this.advance();
    this.beginRun(this.deps.timeline.frontier, now, rate);
  }

  close(): void {
    this.deps.position.reserve(this.deps.timeline.frontier);
    this.deps.position.close();
    this.deps.log?.close();
  }
}

export function logLineOf(deps: Pick<EmissionDeps, 'timeline' | 'catalog'>, k: number): object {
  const { timeline, catalog } = deps;
  const when = { k, name: timeline.nameOf(k), at: timeline.emittedAt(k), visible_at: timeline.visibleAt(k) };
  const injected = timeline.injected.has(k);
  // Only a run that leaves something out needs to say so.
  const shown = timeline.omissionsOf(k) ? { shown: catalog.shownOf(k) } : {};
  if (timeline.item(k).kind === 'post') {
    const { community, author, title, selftext: text, over18: over_18 } = catalog.post(k);
    return { ...when, kind: 'post', subreddit: community.name, author, title, text, over_18, injected, ...shown };
  }
  const { post, author, body: text } = catalog.comment(k);
  const link = { link_id: timeline.nameOf(post.k), link_title: post.title, over_18: post.over18 };
  return { ...when, kind: 'comment', subreddit: post.community.name, author, text, ...link, injected, ...shown };
}

/** Reads the injected items of earlier runs. Items at or after the position are ignored: no client ever saw them. */
export function readInjected(directory: string, frontier: number): Map<number, Injected> {
  const path = join(directory, 'simulator-injected.jsonl');
  const found = new Map<number, Injected>();
  if (!existsSync(path)) return found;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const item = parseInjected(line);
    if (item && item.k < frontier) found.set(item.k, item);
  }
  return found;
}

/** Undefined for an incomplete line after a crash, whose item was never visible. */
function parseInjected(line: string): Injected | undefined {
  try {
    return line === '' ? undefined : (JSON.parse(line) as Injected);
  } catch {
    return undefined;
  }
}
