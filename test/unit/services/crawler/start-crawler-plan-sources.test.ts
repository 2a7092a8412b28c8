import { expect, test } from 'vitest';
import { planSources } from '../../../../services/crawler/start-crawler.ts';
import { ConfigError } from '../../../../shared/runtime/config.ts';

test('plans the listings and four slices of groups once, however often CRAWL_SOURCES names them', () => {
  expect(planSources(['post-ids', 'listings', 'listings'])).toMatchObject([
    { kind: 'ids' },
    { kind: 'listing', listing: { name: 'listings:comments' } },
    ...[0, 1, 2, 3].map((slice) => ({ kind: 'groups', slice })),
  ]);
});

test('reads the listing of posts only where no walk over post ids sees them', () => {
  const names = (sources: string[]) =>
    planSources(sources).flatMap((plan) => (plan.kind === 'listing' ? [plan.listing.name] : []));
  expect(names(['listings'])).toEqual(['listings:comments', 'listings:new']);
  expect(names(['listings', 'post-ids'])).toEqual(['listings:comments']);
});

test.each([
  ['tea', 'tea is unknown; use post-ids, comment-ids, listings, threads or replay:FILE'],
  ['replay:/no/such/file', 'the file /no/such/file does not exist'],
  ['replay:/no/such/file?speed=3', '"speed" is not an option; use rate or escaped'],
  ['replay:package.json?rate=0', 'rate must be a number above 0'],
  ['replay:package.json?escaped=yes', 'escaped must be 0 or 1'],
])('refuses %s with a ConfigError that names the fault', (name, reason) => {
  expect(() => planSources([name])).toThrow(ConfigError);
  expect(() => planSources([name])).toThrow(reason);
});
