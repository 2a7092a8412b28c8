import { expect, test } from 'vitest';
import { AttemptPermits } from '../../../../services/deliverer/attempt-permits.ts';
import { EndpointStandings } from '../../../../services/deliverer/endpoint-standings.ts';
import { LocalOutage } from '../../../../services/deliverer/local-outage.ts';

const anyone = () => true;

/** As many as there are, one endpoint after the other. */
function takeAll(permits: AttemptPermits, standing: 'answering' | 'unknown' | 'silent'): number {
  for (let taken = 0; ; taken++) if (permits.take(standing, 1) === 0) return taken;
}

test.each([
  { standing: 'answering', most: 70 },
  { standing: 'unknown', most: 60 },
  { standing: 'silent', most: 40 },
] as const)('endpoints that are $standing take at most $most of 80 permits', ({ standing, most }) => {
  expect(takeAll(new AttemptPermits(80), standing)).toBe(most);
});

test('whoever came first, a quarter of all permits is left to those that answer, and an eighth to the others', () => {
  const permits = new AttemptPermits(80);
  expect([takeAll(permits, 'silent'), takeAll(permits, 'unknown'), takeAll(permits, 'answering')]).toEqual([
    40, 20, 20,
  ]);
  expect(permits.inUse).toBe(80);
  const busy = new AttemptPermits(80);
  expect([takeAll(busy, 'answering'), takeAll(busy, 'silent')]).toEqual([70, 10]);
});

test('endpoints that do not answer get one permit each when half of their share is gone', () => {
  const permits = new AttemptPermits(80);
  const unknown = Array.from({ length: 40 }, () => permits.take('unknown', 4));
  expect(unknown.slice(0, 10)).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 1, 1]);
  expect(unknown.reduce((sum, taken) => sum + taken)).toBe(60);
});

test('a permit that comes free goes to the first who waits and wants it, and to nobody who comes later', () => {
  const permits = new AttemptPermits(8);
  expect(takeAll(permits, 'silent')).toBe(4);
  for (const id of ['a', 'gone', 'b', 'c', 'a']) permits.waitFor('silent', id);
  permits.release('silent', 2);
  expect(permits.take('silent', 1)).toBe(0);
  expect(permits.handOut((id) => id !== 'gone')).toEqual([
    { monitorId: 'a', standing: 'silent' },
    { monitorId: 'b', standing: 'silent' },
  ]);
  expect(permits.handOut(anyone)).toEqual([]);
});

test('those that answer are served first, each kind within its share', () => {
  const permits = new AttemptPermits(8);
  takeAll(permits, 'silent');
  takeAll(permits, 'unknown');
  takeAll(permits, 'answering');
  permits.waitFor('silent', 's');
  permits.waitFor('unknown', 'u');
  permits.waitFor('answering', 'a');
  permits.release('unknown', 1);
  expect(permits.handOut(anyone)).toEqual([{ monitorId: 'a', standing: 'answering' }]);
  permits.release('silent', 1);
  expect(permits.handOut(anyone)).toEqual([{ monitorId: 'u', standing: 'unknown' }]);
});

test('attempts that turn out to be silent leave no room for further silent ones', () => {
  const permits = new AttemptPermits(8);
  expect(permits.take('answering', 6)).toBe(6);
  for (let moved = 0; moved < 6; moved++) permits.move('answering', 'silent');
  expect([permits.take('silent', 1), permits.take('unknown', 1), permits.take('answering', 4)]).toEqual([0, 0, 2]);
  permits.release('silent', 6);
  expect(permits.inUse).toBe(2);
});

test('what this process learnt of an endpoint counts more than what the database tells, until it is long ago', () => {
  const standings = new EndpointStandings();
  standings.assume('a', false);
  expect(standings.of('a')).toBe('silent');
  standings.set('a', 'answering');
  standings.assume('a', false);
  expect([standings.of('a'), standings.of('b')]).toEqual(['answering', 'unknown']);
  for (let other = 0; other < 50_000; other++) standings.set(`${other}`, 'answering');
  expect(standings.of('a')).toBe('unknown');
});

class OutageBench {
  now = 0;
  changes: { isPaused: boolean; code: string }[] = [];
  readonly outage = new LocalOutage({
    monotonic: () => this.now,
    onChange: (change) => this.changes.push(change),
  });

  fail(count: number, code = 'ENETUNREACH', originOf = (at: number) => `origin ${at}`): void {
    for (let at = 0; at < count; at++) this.outage.failed({ url: `url ${at}`, origin: originOf(at) }, code, false);
  }

  /** When the next attempt at an endpoint is admitted, in milliseconds from now. */
  waitOf(url: string): number {
    const begun = this.now;
    while (this.outage.admits(url) === 'no') this.now += 500;
    return this.now - begun;
  }
}

test('an endpoint that cannot be reached from here backs off alone, up to a minute', () => {
  const bench = new OutageBench();
  const waits = Array.from({ length: 8 }, () => {
    bench.outage.failed({ url: 'v6', origin: 'v6' }, 'ENETUNREACH', false);
    expect(bench.outage.admits('other')).toBe('yes');
    bench.outage.gotOut('other');
    return bench.waitOf('v6');
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  bench.outage.gotOut('v6');
  expect(bench.outage.admits('v6')).toBe('yes');
  expect(bench.changes).toEqual([]);
});

test('faults at a few origins alone never pause the process', () => {
  const bench = new OutageBench();
  bench.fail(1_000, 'ENETUNREACH', (at) => `origin ${at % 4}`);
  expect(bench.outage.admits('other')).toBe('yes');
});

test.each(['ipv6_unreachable', 'proxy_refused', 'EACCES', 'EPERM'])(
  '%s, which a customer can bring about, pauses nobody else, and as a probe tells nothing',
  (code) => {
    const bench = new OutageBench();
    bench.fail(1_000, code);
    expect([bench.outage.admits('url 0'), bench.outage.admits('other')]).toEqual(['no', 'yes']);
    bench.fail(3, 'EMFILE');
    bench.now += 1_000;
    expect(bench.outage.admits('probe')).toBe('as a probe');
    bench.outage.failed({ url: 'probe', origin: 'any' }, code, true);
    expect(bench.outage.admits('other')).toBe('as a probe');
  },
);

test.each([
  { code: 'ENETUNREACH', faults: 10 },
  { code: 'EADDRNOTAVAIL', faults: 10 },
  { code: 'EMFILE', faults: 3 },
  { code: 'proxy_away', faults: 3 },
  { code: 'name_servers_away', faults: 3 },
])('$faults faults $code in a row pause the process; one that got out between them does not let them', (given) => {
  const bench = new OutageBench();
  bench.fail(given.faults - 1, given.code);
  bench.outage.gotOut('healthy');
  bench.fail(given.faults - 1, given.code);
  expect(bench.outage.admits('other')).toBe('yes');
  bench.outage.failed({ url: 'last', origin: 'last' }, given.code, false);
  expect(bench.outage.admits('other')).toBe('no');
  expect(bench.changes).toEqual([{ isPaused: true, code: given.code }]);
});

test('a pause ends with a single probe that gets out; each that fails makes it longer, up to 5 s; it is told once', () => {
  const bench = new OutageBench();
  bench.fail(3, 'EMFILE');
  const waits = Array.from({ length: 5 }, (_, at) => {
    const begun = bench.now;
    let admitted: string;
    while ((admitted = bench.outage.admits(`probe ${at}`)) === 'no') bench.now += 500;
    expect([admitted, bench.outage.admits('another')]).toEqual(['as a probe', 'no']);
    // One that was under way before is not the probe.
    bench.outage.failed({ url: `late ${at}`, origin: 'any' }, 'EMFILE', false);
    expect(bench.outage.admits('another')).toBe('no');
    bench.outage.failed({ url: `probe ${at}`, origin: 'any' }, 'EMFILE', true);
    return bench.now - begun;
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
  bench.now += 5_000;
  expect(bench.outage.admits('one')).toBe('as a probe');
  // It was claimed by another process, or its webhook is gone.
  bench.outage.probeUnused();
  expect(bench.outage.admits('two')).toBe('as a probe');
  bench.outage.gotOut('two');
  expect([bench.outage.admits('one'), bench.outage.admits('two')]).toEqual(['yes', 'yes']);
  expect(bench.changes).toEqual([
    { isPaused: true, code: 'EMFILE' },
    { isPaused: false, code: '' },
  ]);
});
