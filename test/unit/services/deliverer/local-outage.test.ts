import { expect, test } from 'vitest';
import { LocalOutage } from '../../../../services/deliverer/local-outage.ts';

class OutageBench {
  now = 0;
  changes: { isPaused: boolean; code: string }[] = [];
  readonly outage = new LocalOutage({
    monotonic: () => this.now,
    onChange: (change) => this.changes.push(change),
  });

  fail(count: number, code = 'ENETUNREACH', originOf = (index: number) => `origin ${index}`): void {
    for (let index = 0; index < count; index++)
      this.outage.attemptFailed({ url: `url ${index}`, origin: originOf(index) }, code, false);
  }

  /** Milliseconds until the next attempt at an endpoint is admitted. */
  waitOf(url: string): number {
    const begun = this.now;
    while (this.outage.admits(url) === 'no') this.now += 500;
    return this.now - begun;
  }
}

test('an endpoint with a local fault backs off alone, up to a minute', () => {
  const bench = new OutageBench();
  const waits = Array.from({ length: 8 }, () => {
    bench.outage.attemptFailed({ url: 'v6', origin: 'v6' }, 'ENETUNREACH', false);
    expect(bench.outage.admits('other')).toBe('yes');
    bench.outage.attemptSent('other');
    return bench.waitOf('v6');
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  bench.outage.attemptSent('v6');
  expect(bench.outage.admits('v6')).toBe('yes');
  expect(bench.changes).toEqual([]);
});

test('faults of fewer than five origins never pause the process', () => {
  const bench = new OutageBench();
  bench.fail(1_000, 'ENETUNREACH', (index) => `origin ${index % 4}`);
  expect(bench.outage.admits('other')).toBe('yes');
});

test.each(['ipv6_unreachable', 'proxy_refused', 'EACCES', 'EPERM'])(
  '%s, which a customer can cause, pauses no other endpoint, and a probe that ends with it is repeated',
  (code) => {
    const bench = new OutageBench();
    bench.fail(1_000, code);
    expect([bench.outage.admits('url 0'), bench.outage.admits('other')]).toEqual(['no', 'yes']);
    bench.fail(3, 'EMFILE');
    bench.now += 1_000;
    expect(bench.outage.admits('probe')).toBe('probe');
    bench.outage.attemptFailed({ url: 'probe', origin: 'any' }, code, true);
    expect(bench.outage.admits('other')).toBe('probe');
  },
);

test.each([
  { code: 'ENETUNREACH', faults: 10 },
  { code: 'EADDRNOTAVAIL', faults: 10 },
  { code: 'EMFILE', faults: 3 },
  { code: 'proxy_away', faults: 3 },
  { code: 'name_servers_away', faults: 3 },
])(
  '$faults consecutive faults $code pause the process; an attempt that was sent in between resets the count',
  (given) => {
    const bench = new OutageBench();
    bench.fail(given.faults - 1, given.code);
    bench.outage.attemptSent('healthy');
    bench.fail(given.faults - 1, given.code);
    expect(bench.outage.admits('other')).toBe('yes');
    bench.outage.attemptFailed({ url: 'last', origin: 'last' }, given.code, false);
    expect(bench.outage.admits('other')).toBe('no');
    expect(bench.changes).toEqual([{ isPaused: true, code: given.code }]);
  },
);

test('a pause ends with one successful probe; each failed probe extends it, up to 5 s; it is reported once', () => {
  const bench = new OutageBench();
  bench.fail(3, 'EMFILE');
  const waits = Array.from({ length: 5 }, (_, index) => {
    const begun = bench.now;
    let admitted: string;
    while ((admitted = bench.outage.admits(`probe ${index}`)) === 'no') bench.now += 500;
    expect([admitted, bench.outage.admits('another')]).toEqual(['probe', 'no']);
    // An attempt that was in flight before the pause is not the probe.
    bench.outage.attemptFailed({ url: `late ${index}`, origin: 'any' }, 'EMFILE', false);
    expect(bench.outage.admits('another')).toBe('no');
    bench.outage.attemptFailed({ url: `probe ${index}`, origin: 'any' }, 'EMFILE', true);
    return bench.now - begun;
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
  bench.now += 5_000;
  expect(bench.outage.admits('one')).toBe('probe');
  // The match was claimed by another process, or its webhook was removed.
  bench.outage.releaseProbe();
  expect(bench.outage.admits('two')).toBe('probe');
  bench.outage.attemptSent('two');
  expect([bench.outage.admits('one'), bench.outage.admits('two')]).toEqual(['yes', 'yes']);
  expect(bench.changes).toEqual([
    { isPaused: true, code: 'EMFILE' },
    { isPaused: false, code: '' },
  ]);
});
