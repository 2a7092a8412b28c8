import { describe, expect, test } from 'vitest';
import { backOffMs } from '../../../../services/crawler/back-off.ts';
import { Pace } from '../../../../services/crawler/pace.ts';
import { planSources } from '../../../../services/crawler/plan-sources.ts';
import { SeenThings } from '../../../../services/crawler/seen-things.ts';
import { ConfigError } from '../../../../shared/runtime/config.ts';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';

describe('the pace', () => {
  test('gives each source its wish while the budget allows it', () => {
    const pace = new Pace(() => 10);
    expect(pace.intervalMs('a', 400)).toBe(400);
    expect(pace.intervalMs('b', 1000)).toBe(1000);
  });

  test('stretches all alike when together they would outrun the budget', () => {
    const pace = new Pace(() => 1.75);
    pace.intervalMs('a', 400);
    expect(pace.intervalMs('b', 1000)).toBeCloseTo(2000);
    expect(pace.intervalMs('a', 400)).toBeCloseTo(800);
    pace.forget('a');
    expect(pace.intervalMs('b', 1000)).toBe(1000);
  });

  test('does not stretch where the refusal itself says when to come back', () => {
    expect(new Pace(() => 0).intervalMs('a', 400)).toBe(400);
  });
});

describe('the back-off', () => {
  const broken = new UpstreamError('broken', 'x');
  test('grows with the outage, up to half a minute', () => {
    expect(backOffMs(broken, 0, 0)).toBe(250);
    expect(backOffMs(broken, 8_000, 0)).toBe(2_000);
    expect(backOffMs(broken, 3_600_000, 0)).toBe(30_000);
  });
  test('adds up to a quarter of jitter, and never subtracts', () => {
    expect(backOffMs(broken, 4_000, 0.999)).toBeGreaterThan(1_200);
    expect(backOffMs(broken, 4_000, 0.999)).toBeLessThan(1_250);
  });
  test('is never shorter than Retry-After, and slow where we are refused', () => {
    expect(backOffMs(new UpstreamError('busy', 'x', { retryAfterMs: 45_000 }), 0, 0)).toBe(45_000);
    expect(backOffMs(new UpstreamError('refused', 'x'), 0, 0)).toBe(5_000);
  });
});

describe('the ids seen', () => {
  test('are bounded, and the latest half is always there', () => {
    const seen = new SeenThings(100);
    for (let n = 0; n < 1000; n++) seen.add(`t1_${n}`);
    expect(seen.size).toBeLessThanOrEqual(100);
    for (let n = 950; n < 1000; n++) expect(seen.has(`t1_${n}`)).toBe(true);
    expect(seen.has('t1_0')).toBe(false);
    expect(seen.newest(2)).toEqual(['t1_998', 't1_999']);
  });
});

describe('CRAWL_SOURCES', () => {
  test('reads both listings, once, however often they are named', () => {
    expect(planSources(['post-ids', 'listings', 'listings']).map(({ kind }) => kind)).toEqual([
      'post-ids',
      'listing',
      'listing',
    ]);
  });
  test.each([
    ['comment-ids', 'comment-ids is not available yet'],
    ['threads', 'threads is not available yet'],
    ['replay:/no/such/file', 'there is no file /no/such/file'],
    ['replay:/no/such/file?speed=3', '"speed" is no option'],
    ['replay:package.json?rate=0', 'rate must be'],
    ['replay:package.json?escaped=yes', 'escaped must be 0 or 1'],
  ])('refuses %s with one clear sentence', (name, why) => {
    expect(() => planSources([name])).toThrow(ConfigError);
    expect(() => planSources([name])).toThrow(why);
  });
});
