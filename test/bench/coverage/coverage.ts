/**
 * `npm run --silent bench -- coverage [--clients 1,2,4,8] [--hours N] [--from HOUR] [--processes N]
 * [--round-trip MS-MS] [--rate N] [--seed N]`: how much of the whole site crawlers with the real limits see. The
 * decisions of the crawler's sources and its budget of calls run against a model of the forum in virtual time
 * (test/support/forum-model), without readers.
 *
 * For each number of clients one line tells, of what any request could show, the share seen within 15 s, 60 s and 1 h
 * after it became visible, the lag, the calls a second by purpose, and the bounds (bound.ts): the shares that a perfect
 * planner could reach with the same calls. By default a day passes, from 80 items/s at two in the morning to 300 at two
 * in the afternoon; `--from` begins at another hour of it, `--rate` keeps one rate. The first half hour is left out,
 * because the crawler starts without any knowledge.
 *
 * Baseline: the bound of the same run.
 */
import { parseArgs } from 'node:util';
import { estimateCompleteness } from '../../../shared/crawl/rules/coverage.ts';
import { steadily, WHOLE_SITE, WHOLE_SITE_FORUM } from '../../support/forum-model/forum-options.ts';
import { measureCoverage } from '../../support/virtual-crawl/sightings.ts';
import type { Coverage } from '../../support/virtual-crawl/sightings.ts';
import { DEFAULT_SOURCES } from '../../support/virtual-crawl/sources/default-sources.ts';
import { ONE_CRAWLER, VirtualCrawl } from '../../support/virtual-crawl/virtual-crawl.ts';
import type { AuditedTime } from '../../support/virtual-crawl/virtual-crawl.ts';
import type { Report } from '../main.ts';
import { perfectShare } from './bound.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const WARM_UP_MS = HOUR_MS / 2;
const CALLS_PER_SECOND = 100 / 60;

export default async function coverage(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      clients: { type: 'string', default: '1,2,4,8' },
      hours: { type: 'string', default: '24' },
      processes: { type: 'string', default: '1' },
      'round-trip': { type: 'string', default: '100-300' },
      rate: { type: 'string' },
      from: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [least = 100, most = least] = values['round-trip'].split('-').map(Number);
  const daily = { ...WHOLE_SITE, peakAtMs: WHOLE_SITE.peakAtMs - Number(values.from) * HOUR_MS };
  const traffic = values.rate === undefined ? daily : steadily(Number(values.rate));
  for (const clients of values.clients.split(',').map(Number)) {
    const begun = performance.now();
    const crawl = new VirtualCrawl(
      { ...WHOLE_SITE_FORUM, traffic, seed: Number(values.seed) },
      { ...ONE_CRAWLER, clients, processes: Number(values.processes), roundTripMs: [least, most] },
      DEFAULT_SOURCES,
    );
    const endMs = Number(values.hours) * HOUR_MS;
    // An hour more, so that everything of the measured time can be seen within an hour.
    crawl.runUntil(endMs + HOUR_MS);
    const measured = measureCoverage(crawl.forum, crawl.sightings, { fromMs: WARM_UP_MS, toMs: endMs });
    report({
      clients,
      hours: Number(values.hours),
      comments: summary(measured.comments),
      posts: summary(measured.posts),
      bound: bounds(crawl, clients, endMs),
      callsPerSecond: callsPerSecond(crawl.calls, endMs + HOUR_MS),
      firstSeenBy: shares(crawl.sightings.countByPurpose()),
      audit: auditSummary(crawl.audited),
      gaps: crawl.gaps.length,
      seconds: Math.round((performance.now() - begun) / 1000),
    });
  }
}

function summary({ shown, within15s, within60s, within1h, lagMs }: Coverage): object {
  const percent = { within15s: percentOf(within15s), within60s: percentOf(within60s), within1h: percentOf(within1h) };
  return { shown, ...percent, lagMs };
}

/** The mean over a minute, and over the whole, of each hour, weighted with its comments. */
function bounds({ forum }: VirtualCrawl, clients: number, endMs: number): object {
  let within60s = 0;
  let within1h = 0;
  let weight = 0;
  for (let fromMs = WARM_UP_MS; fromMs < endMs; fromMs += HOUR_MS) {
    const count = forum.comments.countAt(fromMs + HOUR_MS) - forum.comments.countAt(fromMs);
    const calls = clients * CALLS_PER_SECOND;
    const middle = fromMs + HOUR_MS / 2;
    within60s += count * perfectShare(forum, calls, { fromMs: middle, toMs: middle + MINUTE_MS });
    within1h += count * perfectShare(forum, calls, { fromMs, toMs: fromMs + HOUR_MS });
    weight += count;
  }
  return { within60s: percentOf(within60s / weight), within1h: percentOf(within1h / weight) };
}

/** The estimate over all windows beside the truth, and the share of windows whose interval holds their truth. */
function auditSummary(audited: readonly AuditedTime[]): object | undefined {
  const seen = audited.reduce((sum, { truth }) => sum + truth.seen, 0);
  const total = audited.reduce((sum, { truth }) => sum + truth.total, 0);
  const estimate = estimateCompleteness(audited.flatMap(({ samples }) => samples));
  if (!estimate || total === 0) return undefined;
  const held = audited.filter(({ samples, truth }) => {
    const one = estimateCompleteness(samples);
    return one !== undefined && one.low <= truth.seen / truth.total && truth.seen / truth.total <= one.high;
  });
  return {
    estimate: percentOf(estimate.share),
    interval: [percentOf(estimate.low), percentOf(estimate.high)],
    truth: percentOf(seen / total),
    windows: audited.length,
    windowsHeld: percentOf(held.length / audited.length),
  };
}

function callsPerSecond(calls: ReadonlyMap<string, number>, forMs: number): object {
  return Object.fromEntries([...calls].map(([purpose, count]) => [purpose, round((count * 1000) / forMs, 2)]));
}

function shares(counts: ReadonlyMap<string, number>): object {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return Object.fromEntries([...counts].map(([name, count]) => [name, percentOf(count / total)]));
}

function percentOf(share: number): number {
  return round(100 * share, 2);
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
