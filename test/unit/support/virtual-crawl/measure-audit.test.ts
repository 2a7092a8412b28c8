import { expect, test } from 'vitest';
import { WHOLE_SITE_FORUM } from '../../../support/forum-model/forum-options.ts';
import { steadily } from '../../../support/forum-model/traffic.ts';
import { auditByHour, commonFaults } from '../../../support/virtual-crawl/measure-audit.ts';
import { VirtualAudit } from '../../../support/virtual-crawl/sources/audit.ts';
import { VirtualListing } from '../../../support/virtual-crawl/sources/listing.ts';
import { VirtualPostIds } from '../../../support/virtual-crawl/sources/post-ids.ts';
import { ONE_CRAWLER, VirtualCrawl } from '../../../support/virtual-crawl/virtual-crawl.ts';

const HOURS = 4;
const COMMENTS = { name: 'listings:comments', path: '/r/all/comments', intervalMs: 400, latencyShare: 0.2 } as const;

// `npm run bench -- audit` does the same with all sources and a hundred hours.
test('the intervals of the audit hold the truth while all sources fail together', { timeout: 120_000 }, () => {
  const forum = {
    ...WHOLE_SITE_FORUM,
    seed: 5,
    traffic: steadily(25),
    communities: 2_000,
    historyHours: 0.5,
    keptPerSecond: 10,
  };
  const faults = commonFaults(7, HOURS + 2);
  const crawl = new VirtualCrawl(forum, { ...ONE_CRAWLER, clients: 1, faults }, [
    (context) => new VirtualPostIds(context),
    (context) => new VirtualListing(COMMENTS, context),
    (context) => new VirtualAudit(context),
  ]);
  crawl.runUntil((HOURS + 2) * 3_600_000);
  // In the first hour the crawler has no knowledge of the threads.
  const hours = auditByHour(crawl.audited).slice(1);
  expect(hours.length).toBeGreaterThanOrEqual(HOURS);
  const error = hours.reduce((sum, { estimate, truth }) => sum + estimate.share - truth, 0) / hours.length;
  expect(Math.abs(error)).toBeLessThan(0.02);
  // One interval of twenty may miss the truth.
  expect(hours.filter(({ holds }) => !holds).length).toBeLessThanOrEqual(1);
  for (const { truth, estimate } of hours) {
    expect(truth).toBeLessThan(0.9);
    expect(estimate.high - estimate.low).toBeLessThan(0.12);
  }
});
