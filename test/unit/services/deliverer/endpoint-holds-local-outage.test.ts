import { expect, test } from 'vitest';
import { LocalOutage } from '../../../../services/deliverer/endpoint-holds.ts';

class OutageBench {
  now = 0;
  changes: { isPaused: boolean; code: string }[] = [];
  readonly outage = new LocalOutage({
    monotonic: () => this.now,
    onChange: (change) => this.changes.push(change),
  });

  fail(count: number, code = 'ENETUNREACH'): void {
    for (let index = 0; index < count; index++) this.outage.attemptFailed(`url ${index}`, code);
  }
}

test('an endpoint with a local fault waits alone', () => {
  const bench = new OutageBench();
  bench.fail(1);
  expect([bench.outage.admits('url 0'), bench.outage.admits('other')]).toEqual([false, true]);
  bench.now += 3_000;
  expect(bench.outage.admits('url 0')).toBe(true);
  expect(bench.changes).toEqual([]);
});

test.each(['ipv6_unreachable', 'proxy_refused', 'EACCES', 'EPERM'])(
  '%s, which a customer can cause, pauses no other endpoint',
  (code) => {
    const bench = new OutageBench();
    bench.fail(1_000, code);
    expect([bench.outage.admits('url 0'), bench.outage.admits('other')]).toEqual([false, true]);
  },
);

test.each(['ENETUNREACH', 'EADDRNOTAVAIL', 'EMFILE', 'proxy_away', 'name_servers_away'])(
  'ten consecutive faults %s pause the process; an attempt that was sent in between resets the count',
  (code) => {
    const bench = new OutageBench();
    bench.fail(9, code);
    bench.outage.attemptSent('healthy');
    bench.fail(9, code);
    expect(bench.outage.admits('other')).toBe(true);
    bench.outage.attemptFailed('last', code);
    expect(bench.outage.admits('other')).toBe(false);
    expect(bench.changes).toEqual([{ isPaused: true, code }]);
  },
);

test('a pause is prolonged by each fault after it, and ends when an attempt is sent; it is reported once', () => {
  const bench = new OutageBench();
  bench.fail(10, 'EMFILE');
  for (let pause = 0; pause < 3; pause++) {
    bench.now += 2_999;
    expect(bench.outage.admits('other')).toBe(false);
    bench.now += 1;
    expect(bench.outage.admits('other')).toBe(true);
    bench.outage.attemptFailed('other', 'EMFILE');
  }
  bench.outage.attemptSent('one');
  expect([bench.outage.admits('one'), bench.outage.admits('two')]).toEqual([true, true]);
  expect(bench.changes).toEqual([
    { isPaused: true, code: 'EMFILE' },
    { isPaused: false, code: '' },
  ]);
});
