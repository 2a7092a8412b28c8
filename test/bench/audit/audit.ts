/**
 * `npm run --silent bench -- audit [--seeds N] [--hours N] [--rate N] [--clients N]`: does the audit's 95 % interval
 * hold the true completeness, also when all sources fail together? Crawlers with the real limits read the forum's model
 * in virtual time (test/support/virtual-crawl) while outages, 429, blocks, stuck calls and outdated pages hit all
 * sources at once, two an hour. One line for each simulated hour, then the sum.
 *
 * Baseline: the truth of the model; 95 of 100 intervals should hold it.
 */
import { parseArgs } from 'node:util';
import { WHOLE_SITE_FORUM } from '../../support/forum-model/forum-options.ts';
import { steadily } from '../../support/forum-model/traffic.ts';
import type { AuditedHour } from '../../support/virtual-crawl/measure-audit.ts';
import { auditByHour, commonFaults } from '../../support/virtual-crawl/measure-audit.ts';
import { DEFAULT_SOURCES } from '../../support/virtual-crawl/sources/default-sources.ts';
import { ONE_CRAWLER, VirtualCrawl } from '../../support/virtual-crawl/virtual-crawl.ts';
import type { Report } from '../main.ts';

const HOUR_MS = 3_600_000;
/** Of each seed: the crawler starts without knowledge, and the last hours are read later. */
const FIRST_HOURS = 1;
const LAST_HOURS = 2;

export default async function audit(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: 'string', default: '10' },
      hours: { type: 'string', default: '10' },
      rate: { type: 'string', default: '30' },
      clients: { type: 'string', default: '1' },
    },
  });
  const [seeds, hours, rate, clients] = [values.seeds, values.hours, values.rate, values.clients].map(Number);
  const measured: AuditedHour[] = [];
  for (let seed = 1; seed <= seeds!; seed++) {
    for (const hour of run(seed, { hours: hours!, rate: rate!, clients: clients! })) {
      measured.push(hour);
      report({ seed, hour: new Date(hour.hour).toISOString(), ...figures(hour) });
    }
  }
  const bias = measured.reduce((sum, { estimate, truth }) => sum + estimate.share - truth, 0) / measured.length;
  const held = measured.filter(({ holds }) => holds).length;
  report({ hours: measured.length, held, meanError: percentOf(bias) });
}

function run(seed: number, { hours, rate, clients }: { hours: number; rate: number; clients: number }): AuditedHour[] {
  const forum = {
    ...WHOLE_SITE_FORUM,
    seed,
    traffic: steadily(rate),
    communities: 10_000,
    historyHours: 2,
    // As at the whole site, less than half of the comments are safe from being dropped.
    keptPerSecond: rate * 0.4,
  };
  const all = FIRST_HOURS + hours + LAST_HOURS;
  const crawl = new VirtualCrawl(forum, { ...ONE_CRAWLER, clients, faults: commonFaults(seed, all) }, DEFAULT_SOURCES);
  crawl.runUntil(all * HOUR_MS);
  const from = forum.startsAt + FIRST_HOURS * HOUR_MS;
  return auditByHour(crawl.audited).filter(({ hour }) => hour >= from && hour < from + hours * HOUR_MS);
}

function figures({ estimate, threads, truth, holds }: AuditedHour): object {
  const { share, low, high } = estimate;
  const interval = [percentOf(low), percentOf(high)];
  return { threads, estimate: percentOf(share), interval, truth: percentOf(truth), holds };
}

function percentOf(share: number): number {
  return Math.round(share * 10_000) / 100;
}
