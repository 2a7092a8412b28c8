import { describe, expect, it } from 'vitest';
import { estimateCompleteness } from '../../../../shared/domain/coverage/estimate-completeness.ts';
import { WHOLE_SITE_FORUM } from '../../../support/forum-model/forum-options.ts';
import { steadily } from '../../../support/forum-model/traffic.ts';
import { measureCoverage } from '../../../support/virtual-crawl/measure-coverage.ts';
import { DEFAULT_SOURCES } from '../../../support/virtual-crawl/sources/default-sources.ts';
import { ONE_CRAWLER, VirtualCrawl } from '../../../support/virtual-crawl/virtual-crawl.ts';

const MINUTE = 60_000;

/** The whole site at its average rate, read by one crawler with four clients. */
describe('an hour of the whole site with four clients', () => {
  it('is seen as the goals say', { timeout: 240_000 }, () => {
    const crawl = new VirtualCrawl(
      { ...WHOLE_SITE_FORUM, traffic: steadily(149), historyHours: 2 },
      ONE_CRAWLER,
      DEFAULT_SOURCES,
    );
    crawl.runUntil(62 * MINUTE);
    // The first minutes go into what only a start needs, such as the first look at every quiet community.
    const { comments, posts } = measureCoverage(crawl.forum, crawl.sightings, {
      fromMs: 10 * MINUTE,
      toMs: 60 * MINUTE,
    });
    expect(comments.within15s).toBeGreaterThan(0.93);
    expect(comments.within60s).toBeGreaterThan(0.96);
    expect(comments.ever).toBeGreaterThan(0.965);
    expect(comments.lagMs.p50).toBeLessThan(1_500);
    expect(comments.lagMs.p90).toBeLessThan(8_000);
    // A late post is found by its last recheck but one, ten minutes after its creation.
    const until = { fromMs: 10 * MINUTE, toMs: 51 * MINUTE };
    expect(measureCoverage(crawl.forum, crawl.sightings, until).posts.ever).toBe(1);
    expect(posts.lagMs.p90).toBeLessThan(5_000);
    const calls = [...crawl.calls.values()].reduce((sum, count) => sum + count, 0);
    expect(calls).toBeLessThanOrEqual(4 * 7 * 1_000);

    const truth = crawl.audited.reduce(
      (sum, { truth }) => ({ seen: sum.seen + truth.seen, total: sum.total + truth.total }),
      { seen: 0, total: 0 },
    );
    const estimate = estimateCompleteness(crawl.audited.flatMap(({ samples }) => samples));
    expect(truth.total).toBeGreaterThan(20_000);
    expect(estimate!.low).toBeLessThanOrEqual(truth.seen / truth.total);
    expect(estimate!.high).toBeGreaterThanOrEqual(truth.seen / truth.total);
  });
});
