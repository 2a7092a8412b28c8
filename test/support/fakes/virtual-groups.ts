import type { GroupPosition } from '../../../services/crawler/groups/group-position.ts';
import type { GroupGap, GroupRequest } from '../../../services/crawler/groups/group-polling.ts';
import { GroupPolling } from '../../../services/crawler/groups/group-polling.ts';
import type { Listed } from '../../../services/crawler/crawl-source.ts';
import type { ListingPage } from '../../../services/crawler/listing-timeline.ts';
import type { CommunityRate } from '../../../shared/crawl/community-rates.ts';
import { seededRandom } from '../samples/seeded-random.ts';

const DEPTH = 1000;
const PAGE = 100;
const MAX_STALE_MS = 60_000;
/** The forum has comments of so long before the start: communities whose rates are known have some. */
const HISTORY_MS = 300_000;
export const START = Date.UTC(2026, 0, 1);

export interface VirtualGroupsOptions {
  seed: number;
  /** Comments a second of each community, `elapsedMs` after the start. */
  rates: readonly number[];
  /** All rates are multiplied by this. */
  factor: (elapsedMs: number) => number;
  /** Parts of all calls. */
  failing: number;
  stale: number;
  /** Part of all comments that are deleted some seconds after they appeared. */
  vanishing: number;
  /** Milliseconds from the start. */
  outages: readonly { from: number; to: number }[];
  restarts: readonly number[];
  /** Communities for which the forum refuses every group. */
  refused?: readonly string[];
  /** How far the reader's clock is ahead of the forum's; default: 0. */
  clockAheadMs?: number;
  perSecond: number;
}

interface Comment extends Listed {
  subreddit: string;
  community: number;
  appearedAt: number;
  goneAt: number;
}

export interface VirtualGroupCrawl {
  comments: Comment[];
  seen: Set<string>;
  gaps: GroupGap[];
  calls: number;
  polling: GroupPolling;
  /** For each community: comments that appeared from the first to the last complete page had to be seen. */
  expected: Map<string, { from: number; to: number }>;
  leftOut: string[];
  clockAheadMs: number;
}

/** Polls a forum's groups with GroupPolling in virtual time. */
export function pollVirtually(options: VirtualGroupsOptions, untilMs: number): VirtualGroupCrawl {
  const random = seededRandom(options.seed);
  const { clockAheadMs = 0 } = options;
  const comments = emit(options, untilMs, random);
  const polling = new GroupPolling();
  const crawl: VirtualGroupCrawl = {
    comments,
    seen: new Set(),
    gaps: [],
    calls: 0,
    polling,
    expected: new Map(),
    leftOut: [],
    clockAheadMs,
  };
  const rates = options.rates.map((rate, n): CommunityRate => {
    return { subreddit: `c${n}`, comments: rate, posts: 0 };
  });
  const restarts = [...options.restarts];
  let answers: { at: number; deliver: () => void }[] = [];
  let now = START + 20_000;
  let formedAt = now;
  while (now < START + untilMs) {
    if (restarts[0] !== undefined && now - START >= restarts[0]) {
      restarts.shift();
      crawl.polling = new GroupPolling(JSON.parse(JSON.stringify(crawl.polling.position())) as GroupPosition);
      answers = [];
    }
    const due = answers.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    answers = answers.filter(({ at }) => at > now);
    for (const { deliver } of due) deliver();
    if (crawl.polling.mustForm(now, options.perSecond)) {
      crawl.polling.form(rates, options.perSecond, now);
      formedAt = now;
    }
    let waitMs: number;
    for (;;) {
      const step = crawl.polling.next(now, options.perSecond);
      if ('waitMs' in step) {
        waitMs = step.waitMs;
        break;
      }
      crawl.calls += 1;
      answers.push(send(step, crawl.polling));
    }
    crawl.gaps.push(...crawl.polling.takeGaps());
    now = Math.min(now + Math.max(1, waitMs), ...answers.map(({ at }) => at));
  }
  return crawl;

  function send(request: GroupRequest, sender: GroupPolling): { at: number; deliver: () => void } {
    const trip = 100 + random() * 500;
    const [readAt, at] = [now + trip / 2, now + trip];
    const isOut = options.outages.some(({ from, to }) => readAt - START >= from && readAt - START < to);
    if (isOut || random() < options.failing) {
      return {
        at,
        deliver: () => {
          sender.failed(request, at);
        },
      };
    }
    if (request.group.names.some((name) => options.refused?.includes(name))) {
      return {
        at,
        deliver: () => {
          const name = sender.refused(request, at);
          if (name !== undefined) crawl.leftOut.push(name);
        },
      };
    }
    const isStale = request.after === undefined && random() < options.stale;
    const page = pageAt(comments, request, readAt - clockAheadMs - (isStale ? random() * MAX_STALE_MS : 0));
    return {
      at,
      deliver: () => {
        sender.learn(request, page, at);
        for (const { name } of page.items) crawl.seen.add(name);
        const { completeSince } = request.group;
        for (const name of request.group.names) {
          const expected = crawl.expected.get(name);
          // Until its first reading a group knows up to where some of its communities were read, but not this one.
          if (completeSince === undefined || (!expected && completeSince < formedAt)) continue;
          crawl.expected.set(name, {
            from: expected?.from ?? completeSince,
            to: Math.max(expected?.to ?? 0, completeSince),
          });
        }
      },
    };
  }
}

/** Comments that had to be seen and were not: all, and those that no gap contains by its dates. */
export function unaccountedFor(crawl: VirtualGroupCrawl): { missed: number; unaccounted: Comment[] } {
  const missed = crawl.comments.filter(({ name, subreddit, goneAt, ...comment }) => {
    const expected = crawl.expected.get(subreddit);
    const appearedAt = comment.appearedAt + crawl.clockAheadMs;
    // The last page of a group may be outdated.
    const isExpected = expected !== undefined && appearedAt >= expected.from && appearedAt < expected.to - MAX_STALE_MS;
    return isExpected && goneAt === Infinity && !crawl.seen.has(name);
  });
  const unaccounted = missed.filter(
    ({ createdAt, subreddit }) =>
      !crawl.gaps.some(
        ({ afterAt = -Infinity, beforeAt = Infinity, communities }) =>
          communities.includes(subreddit) && createdAt >= afterAt - 1_000 && createdAt <= beforeAt,
      ),
  );
  return { missed: missed.length, unaccounted };
}

function emit(options: VirtualGroupsOptions, untilMs: number, random: () => number): Comment[] {
  const total = options.rates.reduce((sum, rate) => sum + rate, 0);
  const comments: Comment[] = [];
  for (let at = -HISTORY_MS; at < untilMs;) {
    at += -Math.log(1 - random()) * (1000 / (total * options.factor(at)));
    let pick = random() * total;
    const community = options.rates.findIndex((rate) => (pick -= rate) < 0);
    const createdAt = Math.floor((START + at) / 1000) * 1000;
    const goneAt = random() < options.vanishing ? START + at + random() * 20_000 : Infinity;
    const thing = { name: `t1_${comments.length}`, createdAt, subreddit: `c${community}` };
    comments.push({ ...thing, community, appearedAt: START + at, goneAt });
  }
  return comments;
}

function pageAt(comments: readonly Comment[], { group, after }: GroupRequest, at: number): ListingPage {
  const names = new Set(group.names);
  const shown: Comment[] = [];
  let hasBegun = after === undefined;
  let listed = 0;
  let k = comments.findLastIndex(({ appearedAt }) => appearedAt <= at);
  for (; k >= 0 && listed < DEPTH && shown.length < PAGE; k--) {
    const comment = comments[k];
    if (!comment || !names.has(comment.subreddit) || comment.goneAt <= at) continue;
    listed += 1;
    if (hasBegun) shown.push(comment);
    else hasBegun = comment.name === after;
  }
  return { items: shown, after: k < 0 || listed >= DEPTH ? undefined : shown.at(-1)?.name };
}
