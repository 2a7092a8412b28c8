import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '../content/catalog.ts';
import type { EmittedLog } from './emitted-log.ts';
import { placeOf } from './numbering.ts';
import type { Position } from './position.ts';
import type { RecentIndex } from './recent-index.ts';
import type { Injected, Run, Timeline } from './timeline.ts';
import { emissionTime } from './timeline.ts';

/** The size of a reserved block in time: a kill -9 loses at most these slots. */
const BLOCK_SECONDS = 2;
const SMALLEST_BLOCK = 64;
/** After a pause this long (a suspended machine) a new run begins, instead of a burst of overdue items. */
const LONGEST_PAUSE_MS = 30_000;
const SLOTS_PER_STEP = 20_000;

export interface EmissionDeps {
  timeline: Timeline;
  position: Position;
  catalog: Catalog;
  index: RecentIndex;
  log: EmittedLog | undefined;
  directory: string;
  now: () => number;
  /** The number of items to emit in this run; undefined: no limit. */
  count: number | undefined;
}

/**
 * Moves the frontier with the clock. In this order, so that a crash anywhere loses nothing that was seen:
 * (1) slots are reserved, (2) the position is written, (3) the log is written, (4) the items can be seen.
 */
export class Emission {
  private readonly parts: EmissionDeps;
  private lastAdvance: number;
  /** The first slot that this process could emit. */
  readonly firstSlot: number;
  emitted = 0;

  constructor(parts: EmissionDeps) {
    this.parts = parts;
    this.lastAdvance = parts.now();
    this.firstSlot = parts.timeline.frontier;
  }

  private get run(): Run {
    return this.parts.timeline.runs.at(-1)!;
  }

  /**
   * Emits the items that are due; cheap if there are none. Each request calls it, and a timer, so that the log does not
   * depend on requests.
   */
  advance(): void {
    const now = this.parts.now();
    const { timeline } = this.parts;
    if (now - this.lastAdvance > LONGEST_PAUSE_MS && this.run.rate > 0) this.beginRun(timeline.frontier, now);
    this.lastAdvance = now;
    while (this.dueSlot(now) > timeline.frontier) this.passUpTo(this.dueSlot(now));
    this.parts.index.add([], now);
  }

  private dueSlot(now: number): number {
    const { frontier } = this.parts.timeline;
    const { run } = this;
    if (run.rate === 0 || this.finished) return frontier;
    let due = run.first + Math.floor(((now - run.at) * run.rate) / 1000);
    while (due > run.first && emissionTime(run, due - 1) > now) due--;
    return Math.max(frontier, Math.min(due, frontier + SLOTS_PER_STEP));
  }

  get finished(): boolean {
    return this.parts.count !== undefined && this.emitted >= this.parts.count;
  }

  private passUpTo(due: number): void {
    const { timeline, position } = this.parts;
    const slots: number[] = [];
    let end = timeline.frontier;
    while (end < due && !(this.parts.count !== undefined && this.emitted + slots.length >= this.parts.count)) {
      if (timeline.willEmit(this.run, end)) slots.push(end);
      end++;
    }
    if (end === timeline.frontier) return;
    if (end > position.reserved) position.reserve(end + this.blockSize());
    this.show(slots, end);
  }

  private blockSize(): number {
    return Math.max(SMALLEST_BLOCK, Math.ceil(this.run.rate * BLOCK_SECONDS));
  }

  private show(slots: readonly number[], frontier: number): void {
    const { timeline, position, log, index, now } = this.parts;
    timeline.frontier = frontier;
    position.advance(frontier);
    index.add(slots, now());
    log?.append(slots.map((k) => describe(this.parts, k)));
    this.emitted += slots.length;
  }

  private beginRun(first: number, at: number): void {
    const { runs, frontier } = this.parts.timeline;
    const before = runs.pop()!;
    before.end = frontier;
    if (before.end > before.first) runs.push(before);
    runs.push({ ...before, first, end: null, at });
    this.parts.position.reserve(Math.max(this.parts.position.reserved, first + this.blockSize()));
  }

  /**
   * Emits the given item now, in the next slot of its kind. Skipped slots become holes. The schedule does not change.
   */
  inject(item: Omit<Injected, 'k' | 'at' | 'ids'>): number {
    this.advance();
    const { timeline, directory, now } = this.parts;
    const { run } = this;
    let k = timeline.frontier;
    while (placeOf(timeline.seed, k).kind !== item.kind) k++;
    const nextDue = emissionTime(run, timeline.frontier);
    this.beginRun(k + 1, run.rate === 0 ? run.at : nextDue - 1000 / run.rate);
    const injected: Injected = { ...item, k, at: now(), ids: run.ids };
    appendFileSync(join(directory, 'simulator-injected.jsonl'), `\n${JSON.stringify(injected)}\n`);
    timeline.injected.set(k, injected);
    this.show([k], k + 1);
    return k;
  }

  /** Releases the reserved slots that were not used. */
  close(): void {
    this.parts.position.reserve(this.parts.timeline.frontier);
    this.parts.position.close();
    this.parts.log?.close();
  }
}

/** The line of the emitted log: the item as a reader first sees it. */
export function describe(parts: Pick<EmissionDeps, 'timeline' | 'catalog'>, k: number): object {
  const { timeline, catalog } = parts;
  const when = { k, name: timeline.nameOf(k), at: timeline.emittedAt(k), visible_at: timeline.visibleAt(k) };
  const injected = timeline.injected.has(k);
  if (timeline.place(k).kind === 'post') {
    const { community, author, title, selftext: text, over18: over_18 } = catalog.post(k);
    return { ...when, kind: 'post', subreddit: community.name, author, title, text, over_18, injected };
  }
  const { post, author, body: text } = catalog.comment(k);
  const link = { link_id: timeline.nameOf(post.k), link_title: post.title, over_18: post.over18 };
  return { ...when, kind: 'comment', subreddit: post.community.name, author, text, ...link, injected };
}

/** The injected items of earlier runs; those past the position were never seen and stay so. */
export function readInjected(directory: string, frontier: number): Map<number, Injected> {
  const path = join(directory, 'simulator-injected.jsonl');
  const found = new Map<number, Injected>();
  if (!existsSync(path)) return found;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const item = parsed(line);
    if (item && item.k < frontier) found.set(item.k, item);
  }
  return found;
}

/** Skips an incomplete line after a crash: its item was never visible, because the position is written later. */
function parsed(line: string): Injected | undefined {
  try {
    return line === '' ? undefined : (JSON.parse(line) as Injected);
  } catch {
    return undefined;
  }
}
