import type { ListingPage } from '../../../services/crawler/listings/listing-timeline.ts';
import type { PollRequest } from '../../../services/crawler/listings/listing-polling.ts';
import { ListingPolling } from '../../../services/crawler/listings/listing-polling.ts';
import type { MissedStretch } from '../../../services/crawler/listings/segment-list.ts';

const DEPTH = 1000;
const PAGE = 100;
const MAX_IN_FLIGHT = 16;
export const START = Date.UTC(2026, 0, 1);

export interface VirtualListingOptions {
  seed: number;
  /** Items a second, `elapsedMs` after the start. */
  rate: (elapsedMs: number) => number;
  /** Shortest and longest round trip. Answers overtake each other. */
  roundTripMs: readonly [number, number];
  /** Parts of all calls: those that fail, and those for the newest page that a cache answers, up to 10 s old. */
  failing: number;
  stale: number;
  /** Parts of all items: those deleted after they appeared, and those that appear up to 20 s after their date. */
  vanishing: number;
  late: number;
  /** Milliseconds from the start. */
  outages: readonly { from: number; to: number }[];
  restarts: readonly number[];
  /** Calls a second that the budget allows. */
  perSecond: number;
}

export interface VirtualCrawl {
  items: { createdAt: number; goneAt: number }[];
  /** Items that an acknowledged page showed. */
  seen: Set<number>;
  gaps: MissedStretch[];
  calls: number;
  /** The items that had to be accounted for: after the first page, and up to the newest item that the crawl reached. */
  from: number;
  to: number;
}

/** Crawls a sliding listing with ListingPolling in virtual time; calls overlap. */
export function crawlVirtually(options: VirtualListingOptions, untilMs: number): VirtualCrawl {
  const random = randomFrom(options.seed);
  const items = emit(options, untilMs, random);
  const crawl: VirtualCrawl = { items, seen: new Set(), gaps: [], calls: 0, from: -1, to: 0 };
  let polling = new ListingPolling({ maxIntervalMs: 400 });
  const restarts = [...options.restarts];
  let answers: { at: number; deliver: () => void }[] = [];
  let now = START + 10_000;
  let firstReadAt: number | undefined;
  while (now < START + untilMs) {
    if (restarts[0] !== undefined && now - START >= restarts[0]) {
      restarts.shift();
      const position = JSON.parse(JSON.stringify(polling.position() ?? null)) as ReturnType<typeof polling.position>;
      polling = new ListingPolling({ maxIntervalMs: 400, position: position ?? undefined });
      answers = [];
    }
    const due = answers.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    answers = answers.filter(({ at }) => at > now);
    for (const { deliver } of due) deliver();
    let waitMs = 1000;
    while (answers.length < MAX_IN_FLIGHT) {
      const request = polling.next(now, options.perSecond);
      if ('waitMs' in request) {
        waitMs = request.waitMs;
        break;
      }
      crawl.calls += 1;
      answers.push(send(request, polling));
    }
    crawl.gaps.push(...polling.takeGaps());
    now = Math.min(now + Math.max(1, waitMs), ...answers.map(({ at }) => at));
  }
  crawl.to = numberOf(polling.position()?.anchors.at(-1));
  return crawl;

  function send(request: PollRequest, sender: ListingPolling): { at: number; deliver: () => void } {
    const [shortest, longest] = options.roundTripMs;
    const trip = shortest + random() * (longest - shortest);
    const readAt = now + trip / 2;
    firstReadAt ??= readAt;
    const at = now + trip;
    const isOut = options.outages.some(({ from, to }) => readAt - START >= from && readAt - START < to);
    if (isOut || random() < options.failing) {
      return {
        at,
        deliver: () => {
          sender.failed(request, at);
        },
      };
    }
    // A cache holds only pages that someone has asked for.
    const isStale = request.after === undefined && random() < options.stale;
    const shown = pageAt(items, isStale ? Math.max(firstReadAt, readAt - random() * 10_000) : readAt, request.after);
    return {
      at,
      deliver: () => {
        const outcome = sender.learn(request, shown.page, at);
        for (const k of shown.numbers) crawl.seen.add(k);
        if (outcome.outcome === 'first') crawl.from = (shown.numbers[0] ?? 0) + 1;
      },
    };
  }
}

/** The items from `from` to `to` that no page showed although they were not deleted, and that no gap contains. */
export function unaccountedFor(crawl: VirtualCrawl): { missed: number; unaccounted: number[] } {
  const ranges = crawl.gaps.map((gap) => [numberOf(gap.afterThing), numberOf(gap.beforeThing)] as const);
  const missed: number[] = [];
  for (let k = crawl.from; k < crawl.to; k++) {
    if (!crawl.seen.has(k) && crawl.items[k]?.goneAt === Infinity) missed.push(k);
  }
  const unaccounted = missed.filter((k) => !ranges.some(([after, before]) => after < k && k < before));
  return { missed: missed.length, unaccounted };
}

export function nameOf(k: number): string {
  return `t1_${k}`;
}

export function numberOf(name: string | undefined): number {
  return name === undefined ? -1 : Number(name.slice(3));
}

/** The k-th number is the time at which item k appears. */
const appearances = new WeakMap<object, number[]>();

function emit(options: VirtualListingOptions, untilMs: number, random: () => number): VirtualCrawl['items'] {
  const items: VirtualCrawl['items'] = [];
  const times: number[] = [];
  for (let at = 0; at < untilMs;) {
    at += -Math.log(1 - random()) * (1000 / options.rate(at));
    const createdAt = START + at - (random() < options.late ? random() * 20_000 : 0);
    const goneAt = random() < options.vanishing ? START + at + random() * 10_000 : Infinity;
    // As on the forum, dates are whole seconds.
    items.push({ createdAt: Math.floor(createdAt / 1000) * 1000, goneAt });
    times.push(START + at);
  }
  appearances.set(items, times);
  return items;
}

function pageAt(
  items: VirtualCrawl['items'],
  at: number,
  cursor: string | undefined,
): { page: ListingPage; numbers: number[] } {
  const times = appearances.get(items) ?? [];
  const frontier = countUntil(times, at);
  const oldest = Math.max(0, frontier - DEPTH);
  const isShown = (k: number): boolean => (items[k]?.goneAt ?? 0) > at;
  const after = cursor === undefined ? frontier : numberOf(cursor);
  // The forum shows nothing after an item that left the listing or was deleted.
  const isKnown = cursor === undefined || (after >= oldest && after < frontier && isShown(after));
  const numbers: number[] = [];
  let k = after - 1;
  for (; isKnown && k >= oldest && numbers.length < PAGE; k--) if (isShown(k)) numbers.push(k);
  const listed = numbers.map((n) => ({
    name: nameOf(n),
    createdAt: items[n]?.createdAt ?? 0,
    subreddit: 'tea',
    postId: 'p',
  }));
  const last = numbers.at(-1);
  return { page: { items: listed, after: k < oldest || last === undefined ? undefined : nameOf(last) }, numbers };
}

/** The number of times up to `at`, in ascending order. */
function countUntil(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The generator mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
