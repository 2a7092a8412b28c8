import { Catalog } from './content/catalog.ts';
import { CommunityDirectory } from './content/community-directory.ts';
import { logLineOf, Emission, readInjected } from './timeline/emission.ts';
import { EmittedLog, Position } from './timeline/position.ts';
import type { CommentIds, Omissions, Run } from './timeline/timeline.ts';
import { BLOCK, Timeline } from './timeline/timeline.ts';
import { RecentIndex } from './timeline/recent-index.ts';
import { KEPT_POSTS, keptPostsAt, Threads } from './content/threads.ts';

const HOUR = 3_600_000;
/** Ten minutes: monitors accept items up to five minutes older than themselves, and must not match the history. */
const HISTORY_ENDS_BEFORE = HOUR / 6;
const HISTORY_LENGTH = 6 * HOUR;

export interface WorldOptions {
  directory: string;
  seed: number;
  /** Slots per second. */
  rate: number;
  ids: CommentIds;
  holes: number;
  late: number;
  /** The number of back-dated slots of the very first start. */
  history: number;
  count: number | undefined;
  emittedLog: string | undefined;
  communities?: number | undefined;
  lateSeconds?: number | undefined;
  lateDeep?: boolean | undefined;
  omissions?: Omissions | undefined;
}

export interface World {
  timeline: Timeline;
  threads: Threads;
  communities: CommunityDirectory;
  catalog: Catalog;
  index: RecentIndex;
  emission: Emission;
  now: () => number;
}

export function openWorld(options: WorldOptions, now: () => number): World {
  const { directory, seed } = options;
  const forum = { seed, ...(options.communities ? { communities: options.communities } : {}) };
  const { position, runs, frontier } = Position.open(directory, forum);
  const last = runs.at(-1);
  if (last) {
    last.end ??= frontier;
    if (last.end <= last.first) runs.pop();
  }
  if (runs.length === 0 && options.history > 0) runs.push(historyRun(options, now()));
  const historyEnd = runs.at(-1)?.end ?? 0;
  const first = Math.max(position.reserved, historyEnd);
  const timeline = new Timeline(seed, runs, first);
  for (const [k, item] of readInjected(directory, frontier)) timeline.injected.set(k, item);

  const oldestKept = Math.max(0, Math.floor(first / BLOCK) - KEPT_POSTS);
  const threads = new Threads(timeline, oldestKept, keptPostsAt(options.rate));
  const communities = new CommunityDirectory(seed, options.communities);
  const catalog = new Catalog(timeline, threads, communities);
  const index = new RecentIndex({
    timeline,
    threads,
    attributes: (k) => catalog.attributes(k),
    shownOf: (k) => catalog.shownOf(k),
    lateDeep: options.lateDeep ?? false,
  });
  const known: number[] = [];
  for (let k = oldestKept * BLOCK; k < first; k++) if (timeline.exists(k)) known.push(k);
  index.add(known, now());

  const log = options.emittedLog === undefined ? undefined : openLog(options.emittedLog, timeline, catalog);
  const { rate, ids, holes, late, count, lateSeconds: late_seconds, omissions } = options;
  runs.push({ first, end: null, at: now(), rate, ids, holes, late, late_seconds, omissions });
  position.reserve(first);
  const emission = new Emission({ timeline, position, catalog, index, log, directory, now, count });
  return { timeline, threads, communities, catalog, index, emission, now };
}

function historyRun(options: WorldOptions, now: number): Run {
  const { history, ids, holes } = options;
  const rate = history / (HISTORY_LENGTH / 1000);
  return { first: 0, end: history, at: now - HISTORY_ENDS_BEFORE - HISTORY_LENGTH, rate, ids, holes, late: 0 };
}

/** Adds the lines that are missing after a crash: those of items that the position says are emitted. */
function openLog(path: string, timeline: Timeline, catalog: Catalog): EmittedLog {
  const log = new EmittedLog(path);
  if (log.next === undefined) return log;
  const missing: object[] = [];
  const from = Math.max(log.next, log.next === 0 ? (timeline.runs.at(-1)?.first ?? 0) : 0);
  for (let k = from; k < timeline.frontier; k++)
    if (timeline.exists(k)) missing.push(logLineOf({ timeline, catalog }, k));
  log.append(missing);
  return log;
}
