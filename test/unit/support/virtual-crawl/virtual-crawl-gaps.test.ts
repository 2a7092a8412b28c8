import { expect, test } from 'vitest';
import { WHOLE_SITE_FORUM } from '../../../support/forum-model/forum-options.ts';
import { steadily } from '../../../support/forum-model/traffic.ts';
import { VirtualListing } from '../../../support/virtual-crawl/sources/listing.ts';
import { VirtualPostIds } from '../../../support/virtual-crawl/sources/post-ids.ts';
import { VirtualThreads } from '../../../support/virtual-crawl/sources/threads.ts';
import type { BuildSource } from '../../../support/virtual-crawl/virtual-crawl.ts';
import { ONE_CRAWLER, VirtualCrawl } from '../../../support/virtual-crawl/virtual-crawl.ts';

const MINUTE = 60_000;
const COMMENTS = { name: 'listings:comments', path: '/r/all/comments', intervalMs: 400, latencyShare: 0.2 } as const;

test('the gap of an outage is closed although ever more threads wait than can be read', () => {
  const sources: (VirtualPostIds | VirtualListing | VirtualThreads)[] = [];
  const keep =
    (build: (...context: Parameters<BuildSource>) => (typeof sources)[number]): BuildSource =>
    (context) => {
      const source = build(context);
      sources.push(source);
      return source;
    };
  const forum = {
    ...WHOLE_SITE_FORUM,
    traffic: steadily(60),
    communities: 2_000,
    historyHours: 0.05,
    keptPerSecond: 20,
    dropped: 0.3,
  };
  // The listing reaches back over 21 s.
  const faults = [{ kind: 'outage' as const, fromMs: 2 * MINUTE, toMs: 2 * MINUTE + 22_000 }];
  const crawl = new VirtualCrawl(forum, { ...ONE_CRAWLER, clients: 2, faults }, [
    keep((context) => new VirtualPostIds(context)),
    keep((context) => new VirtualListing(COMMENTS, context)),
    keep((context) => new VirtualThreads(context)),
  ]);
  const { recovery, sweep } = sources.find((source) => source instanceof VirtualThreads)!;
  crawl.runUntil(4 * MINUTE);
  expect(recovery.open).toBe(1);
  const backlog = sweep.backlog;
  crawl.runUntil(18 * MINUTE);
  expect(sweep.backlog).toBeGreaterThan(2 * backlog);
  expect(recovery.open).toBe(0);
  expect(recovery.openMs).toHaveLength(1);
});
