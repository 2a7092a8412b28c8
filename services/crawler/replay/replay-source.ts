import { z } from 'zod';
import type { Thing } from '../../../shared/forum-client/parse-things.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { Call, CrawlSource, Fetched, Wait } from '../crawl-source.ts';
import { parseDumpLine, readDumpLines } from './dump-lines.ts';
import type { DumpLine } from './dump-lines.ts';
import type { ReplayPlan } from './replay-plan.ts';

/** How often the lag is read. At full speed a replay publishes about 10,000 items in between. */
const CHECK_INTERVAL_MS = 1_000;

interface ReplayThrottleDeps {
  /** Reads how many records the matcher is behind on the item topics. */
  lag: () => Promise<number>;
  /** A replay pauses above this lag and resumes at half of it. */
  maxLag: number;
  logger: Logger;
  clock: Clock;
}

/**
 * Pauses replays while the matcher is behind. Live items share its partitions and must not wait long behind a dump. If
 * the lag cannot be read, a replay pauses too, because the broker would probably not accept its items either.
 */
export class ReplayThrottle {
  private readonly options: ReplayThrottleDeps;
  private checkedAt = Number.NEGATIVE_INFINITY;
  private isBehind = false;

  constructor(options: ReplayThrottleDeps) {
    this.options = options;
  }

  /** Resolves when a replay may publish its next items, or when the signal aborts. */
  async waitUntilCaughtUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.checkLag();
      if (!this.isBehind) return;
      await delay(CHECK_INTERVAL_MS, signal);
    }
  }

  private async checkLag(): Promise<void> {
    const { clock, logger, maxLag } = this.options;
    const now = clock();
    if (now - this.checkedAt < CHECK_INTERVAL_MS) return;
    this.checkedAt = now;
    const lag = await this.lagOrUnknown();
    const wasBehind = this.isBehind;
    this.isBehind = lag === undefined || lag > (wasBehind ? maxLag / 2 : maxLag);
    if (this.isBehind === wasBehind) return;
    if (this.isBehind) logger.info({ lag, maxLag }, 'the replay pauses until the matcher catches up');
    else logger.info({ lag }, 'the matcher has caught up; the replay resumes');
  }

  private async lagOrUnknown(): Promise<number | undefined> {
    try {
      return await this.options.lag();
    } catch (error) {
      this.options.logger.debug({ err: error }, "the matcher's lag could not be read");
      return undefined;
    }
  }
}

const ITEMS_PER_BATCH = 500;
/** If a rate is set, a batch holds the items of this time, so that the flow is even. */
const BATCH_MS = 100;
const PROGRESS_MS = 5_000;
const FAULTS_LOGGED = 5;
/** After the file could not be read: a disk or a network may come back, and each attempt is logged. */
const RETRY_MS = 60_000;

const savedPosition = z.object({
  /** The number of lines whose items are all acknowledged. */
  line: z.int().min(0),
  things: z.int().min(0),
  skipped: z.int().min(0),
  done: z.boolean(),
});
type Position = z.infer<typeof savedPosition>;

interface ReplaySourceDeps {
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** Pauses the replay while the matcher is behind. Undefined: it runs as fast as the file and its rate allow. */
  throttle: Pick<ReplayThrottle, 'waitUntilCaughtUp'> | undefined;
  /** Reads the file, for tests; default: `readDumpLines`. */
  readLines?: typeof readDumpLines;
}

/** Reads a dump file once, from the beginning to the end, and resumes after a restart. It never calls the forum. */
export class ReplaySource implements CrawlSource {
  readonly name: string;
  readonly label = 'replay';
  readonly replay = true;
  readonly maxInFlight = 1;
  private readonly plan: ReplayPlan;
  private readonly deps: ReplaySourceDeps;
  /** Undefined before the first batch, and after the file could not be read. */
  private lines: AsyncGenerator<DumpLine> | undefined;
  private progress: Position = { line: 0, things: 0, skipped: 0, done: false };
  /** The batch that was returned and is not yet acknowledged. */
  private open: Fetched | undefined;
  private resumeAt = Number.NEGATIVE_INFINITY;
  private startedAt = 0;
  private startedItems = 0;
  private lastProgressAt = 0;
  private faultsLogged = 0;

  constructor(plan: ReplayPlan, deps: ReplaySourceDeps) {
    this.plan = plan;
    this.name = plan.name;
    this.deps = deps;
  }

  async begin(position: unknown): Promise<void> {
    await this.end();
    this.resumeAt = Number.NEGATIVE_INFINITY;
    this.progress =
      position === undefined ? { line: 0, things: 0, skipped: 0, done: false } : savedPosition.parse(position);
    this.startedAt = this.deps.clock();
    this.lastProgressAt = this.startedAt;
    this.startedItems = this.progress.things;
    if (this.progress.done) this.deps.logger.info({ file: this.plan.path }, 'the file was already replayed');
    else this.deps.logger.info({ file: this.plan.path, fromLine: this.progress.line + 1 }, 'replay begins');
  }

  next(now: number): Call | Wait {
    if (now < this.resumeAt) return { waitMs: this.resumeAt - now };
    return { fetch: (signal) => this.readBatch(signal), failed: () => undefined };
  }

  private async readBatch(signal: AbortSignal): Promise<Fetched> {
    if (this.progress.done) {
      return { things: [], seenAt: this.deps.clock(), acknowledged: () => undefined, done: true };
    }
    await this.deps.throttle?.waitUntilCaughtUp(signal);
    this.open ??= await this.nextBatch();
    return this.open;
  }

  position(): unknown {
    return this.progress;
  }

  async end(): Promise<void> {
    this.open = undefined;
    await this.lines?.return(undefined);
    this.lines = undefined;
  }

  private async nextBatch(): Promise<Fetched> {
    const { path, rate } = this.plan;
    this.lines ??= (this.deps.readLines ?? readDumpLines)(path, this.progress.line);
    const maxItems =
      rate === undefined ? ITEMS_PER_BATCH : Math.max(1, Math.min(ITEMS_PER_BATCH, (rate * BATCH_MS) / 1000));
    const things: Thing[] = [];
    const next: Position = { ...this.progress };
    let line: DumpLine | 'end' | 'unreadable' | undefined;
    while (things.length < Math.floor(maxItems)) {
      line = await this.nextLine(this.lines);
      if (typeof line === 'string') break;
      next.line = line.number;
      const thing = this.read(line);
      if (thing) things.push(thing);
      else if (line.text?.trim() !== '') next.skipped += 1;
    }
    next.done = line === 'end';
    next.things += things.length;
    const pauseMs = rate === undefined ? 0 : this.pauseBefore(next.things - this.startedItems, rate);
    return {
      things,
      seenAt: this.deps.clock(),
      acknowledged: () => {
        this.acknowledge(next);
        this.resumeAt = this.deps.clock() + (line === 'unreadable' ? Math.max(RETRY_MS, pauseMs) : pauseMs);
      },
      done: next.done,
    };
  }

  /** Treats damage as the end of the file: a retry cannot repair it, and the items before it are valid. */
  private async nextLine(lines: AsyncGenerator<DumpLine>): Promise<DumpLine | 'end' | 'unreadable'> {
    const { logger } = this.deps;
    const file = this.plan.path;
    try {
      const line = await lines.next();
      return line.done === true ? 'end' : line.value;
    } catch (error) {
      if (error instanceof Error && 'syscall' in error) {
        logger.error({ err: error, file, retryMs: RETRY_MS }, 'the file cannot be read; the replay tries again');
        this.lines = undefined;
        return 'unreadable';
      }
      logger.error({ err: error, file }, 'the file is damaged; the replay ends here');
      return 'end';
    }
  }

  private acknowledge(next: Position): void {
    this.progress = next;
    this.open = undefined;
    const now = this.deps.clock();
    if (next.done) this.report(now, 'replay is complete');
    else if (now - this.lastProgressAt >= PROGRESS_MS) this.report(now, 'replay continues');
  }

  private report(now: number, message: string): void {
    this.lastProgressAt = now;
    const seconds = Math.max(0.001, (now - this.startedAt) / 1000);
    const perSecond = Math.round((this.progress.things - this.startedItems) / seconds);
    const { line, things, skipped } = this.progress;
    this.deps.logger.info({ file: this.plan.path, lines: line, things, skipped, perSecond }, message);
  }

  /** Returns the milliseconds until `rate` allows `count` items since the start. */
  private pauseBefore(count: number, rate: number): number {
    return Math.max(0, this.startedAt + (count * 1000) / rate - this.deps.clock());
  }

  private read(line: DumpLine): Thing | undefined {
    if (line.text?.trim() === '') return undefined;
    const entry = line.text === undefined ? undefined : parseDumpLine(line.text);
    if (entry?.parsed.outcome === 'thing') {
      const { thing } = entry.parsed;
      return (this.plan.escaped ?? entry.isBare) ? unescapeThing(thing) : thing;
    }
    if (entry?.parsed.outcome === 'unknown_kind') this.deps.metrics.crawlerUnknownKinds.inc({ source: this.label });
    this.faultsLogged += 1;
    if (this.faultsLogged <= FAULTS_LOGGED) {
      const why = entry === undefined ? { message: 'is too long' } : describeFault(entry.parsed);
      this.deps.logger.warn({ file: this.plan.path, line: line.number, ...why }, 'a line was skipped');
    }
    return undefined;
  }
}

function describeFault(parsed: ReturnType<typeof parseDumpLine>['parsed']): object {
  if (parsed.outcome === 'fault') return parsed.fault;
  return { message: 'is neither a post nor a comment' };
}

const ESCAPED = /&(lt|gt|amp);/g;
const PLAIN: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

/** Unescapes the texts and URLs of an item that were escaped in transport. */
function unescapeThing(thing: Thing): Thing {
  if (thing.kind === 't3') {
    const { title, selftext, url } = thing.data;
    const texts = { title: unescapeTransport(title), selftext: unescapeTransport(selftext), url: optional(url) };
    return { kind: 't3', data: { ...thing.data, ...texts } };
  }
  const { body, link_title: title } = thing.data;
  return { kind: 't1', data: { ...thing.data, body: unescapeTransport(body), link_title: optional(title) } };
}

/**
 * Undoes the escaping that the forum applies to every text and URL without `raw_json=1`: `<`, `>` and `&` as entities,
 * once. Entities that an author typed stay as typed.
 */
function unescapeTransport(text: string): string {
  return text.includes('&') ? text.replace(ESCAPED, (entity) => PLAIN[entity] ?? entity) : text;
}

function optional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : unescapeTransport(text);
}
