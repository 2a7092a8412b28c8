import { afterEach, describe, expect, test, vi } from 'vitest';
import { DispatcherBench as Bench, range } from '../../../support/fixtures/deliveries/dispatcher-fixture.ts';

describe('DeliveryDispatcher', () => {
  test('has at most four attempts in flight per URL and starts each once, in match order', async () => {
    const bench = new Bench();
    bench.add('a', 'https://one.example/x', range(20));
    bench.hintAll('a');
    await bench.settle();
    expect(bench.ids()).toEqual(['a/1', 'a/2', 'a/3', 'a/4']);
    bench.started[1]!.end();
    await bench.settle();
    expect(bench.ids()).toEqual(['a/1', 'a/2', 'a/3', 'a/4', 'a/5']);
    await bench.drain();
    expect(bench.ids()).toEqual(range(20).map((seq) => `a/${seq}`));
  });

  test('remembers a limited number of wake-ups of all monitors together, and takes new ones when those are claimed', async () => {
    const bench = new Bench({ wakeUps: 6 });
    for (const name of ['a', 'b', 'c']) bench.add(name, `https://${name}.example`, range(4));
    for (const name of ['a', 'b', 'c']) bench.hintAll(name);
    await bench.settle();
    await bench.drain();
    expect(
      bench
        .ids()
        .map((id) => id.split('/')[0])
        .sort(),
    ).toEqual(['a', 'a', 'a', 'a', 'b', 'b']);
    bench.hintAll('c');
    await bench.settle();
    await bench.drain();
    expect(bench.ids().filter((id) => id.startsWith('c'))).toHaveLength(4);
  });

  test('has at most 64 attempts in flight per origin, whatever the paths', async () => {
    const bench = new Bench();
    for (const n of range(30)) bench.add(`m${n}`, `https://shared.example/${n}`, range(4));
    for (const n of range(30)) bench.hintAll(`m${n}`);
    await bench.settle();
    expect(bench.started).toHaveLength(64);
    await bench.drain();
    expect(bench.started).toHaveLength(120);
  });

  test('hanging URLs of one account leave slots of a shared origin to the other accounts', async () => {
    const bench = new Bench();
    for (const n of range(20)) bench.add(`hanging${n}`, `https://shared.example/${n}`, range(4), 'hanging');
    for (const n of range(20)) bench.hintAll(`hanging${n}`);
    await bench.settle();
    expect(bench.started).toHaveLength(16);
    bench.add('other', 'https://shared.example/other', [1]);
    bench.hintAll('other');
    await bench.settle();
    expect(bench.ids().at(-1)).toBe('other/1');
    await bench.drain();
    expect(bench.started).toHaveLength(81);
  });

  test('delivers to other endpoints at once while one is dead, and claims nothing more for the dead one', async () => {
    const bench = new Bench();
    bench.add('dead', 'https://dead.example/', range(1_000));
    bench.dispatcher.markDue({
      monitorId: 'dead',
      webhookUrl: 'https://dead.example/',
      accountId: 'a',
      isAnswering: null,
    });
    await bench.settle();
    expect(bench.started).toHaveLength(4);
    const claims = bench.claims;
    for (let i = 0; i < 10; i++)
      bench.dispatcher.markDue({
        monitorId: 'dead',
        webhookUrl: 'https://dead.example/',
        accountId: 'a',
        isAnswering: null,
      });
    await bench.settle();
    expect(bench.claims).toBe(claims);
    for (const n of range(20)) {
      bench.add(`m${n}`, `https://host${n}.example/`, [1]);
      bench.hintAll(`m${n}`);
    }
    await bench.settle();
    expect(bench.started).toHaveLength(24);
  });

  test('releases matches whose URL changed since its slots were taken, and claims them for the new URL', async () => {
    const bench = new Bench({ perUrl: 1 });
    bench.add('a', 'https://old.example/', [1]);
    bench.hintAll('a');
    await bench.settle();
    bench.started[0]!.end();
    await bench.settle();
    bench.add('b', 'https://new.example/', [1]);
    bench.hintAll('b');
    await bench.settle();
    // b's attempt has the only slot of the new URL when a moves there.
    bench.add('a', 'https://new.example/', [2]);
    bench.hintAll('a');
    await bench.settle();
    expect(bench.ids()).toEqual(['a/1', 'b/1']);
    expect(bench.released).toEqual(['a/2']);
    bench.started[1]!.end();
    await bench.settle();
    expect(bench.started.map(({ id, url }) => [id, url])).toEqual([
      ['a/1', 'https://old.example/'],
      ['b/1', 'https://new.example/'],
      ['a/2', 'https://new.example/'],
    ]);
  });
});

describe('the limit of concurrent attempts', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const addSilent = (bench: Bench, count: number, seqs = range(4)) => {
    for (const n of range(count)) bench.add(`silent${n}`, `https://silent${n}.example/`, seqs);
    for (const n of range(count)) {
      const [monitorId, webhookUrl] = [`silent${n}`, `https://silent${n}.example/`];
      bench.dispatcher.markDue({ monitorId, webhookUrl, accountId: 'a', isAnswering: null });
    }
  };

  test('2,000 due monitors with silent receivers never have more attempts in flight than permits', async () => {
    const bench = new Bench({ total: 200 });
    addSilent(bench, 2_000);
    await bench.settle();
    expect(bench.started).toHaveLength(150);
    let most = 0;
    for (let ended = 0; ended < 500; ended++) {
      bench.started[ended]!.end({ kind: 'unanswered' });
      if (ended % 50 === 0) await bench.settle();
      most = Math.max(most, bench.started.length - ended - 1);
    }
    expect(most).toBeLessThanOrEqual(150);
  });

  test('an endpoint that answers is served at once while silent ones wait', async () => {
    const bench = new Bench({ total: 200 });
    bench.add('healthy', 'https://healthy.example/', [1]);
    bench.hintAll('healthy');
    await bench.settle();
    bench.started[0]!.end();
    addSilent(bench, 1_000);
    await bench.settle();
    bench.add('healthy', 'https://healthy.example/', [2, 3]);
    bench.hintAll('healthy');
    await bench.settle();
    expect(bench.ids().slice(-2)).toEqual(['healthy/2', 'healthy/3']);
  });

  test('a new process reads from the database which endpoints answered, and serves them first', async () => {
    const bench = new Bench({ total: 200 });
    addSilent(bench, 1_000);
    await bench.settle();
    bench.add('healthy', 'https://healthy.example/', [1]);
    bench.dispatcher.markDue({
      monitorId: 'healthy',
      webhookUrl: 'https://healthy.example/',
      accountId: 'a',
      isAnswering: true,
    });
    bench.add('new', 'https://new.example/', [1]);
    bench.dispatcher.markDue({
      monitorId: 'new',
      webhookUrl: 'https://new.example/',
      accountId: 'a',
      isAnswering: null,
    });
    await bench.settle();
    expect(bench.ids().at(-1)).toBe('healthy/1');
    expect(bench.ids()).not.toContain('new/1');
  });

  test('an attempt without an answer after a second counts as silent, so another endpoint may start', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const bench = new Bench({ total: 16 });
    for (const n of range(14)) bench.dispatcher.markDue(healthy(bench, n));
    await bench.settle();
    expect(bench.started).toHaveLength(14);
    bench.dispatcher.markDue(healthy(bench, 15));
    await bench.settle();
    expect(bench.started).toHaveLength(14);
    vi.advanceTimersByTime(1_000);
    await bench.settle();
    expect(bench.ids().at(-1)).toBe('healthy15/1');
  });

  test.each([
    { afterMs: 50, free: 1, what: 'an outcome that is stored slowly does not make its receiver silent' },
    { afterMs: 3_000, free: 0, what: 'an answer that takes more than a second does' },
  ])('$what', async ({ afterMs, free }) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const bench = new Bench({ total: 16 });
    bench.dispatcher.markDue(healthy(bench, 1));
    await bench.settle();
    vi.advanceTimersByTime(1_000);
    bench.started[0]!.end({ kind: 'answered', afterMs, status: 204 });
    await bench.settle();
    addSilent(bench, 100);
    await bench.settle();
    const before = bench.started.length;
    bench.dispatcher.markDue(healthy(bench, 1));
    await bench.settle();
    expect(bench.started.length - before).toBe(free);
  });

  const healthy = (bench: Bench, n: number) => {
    const [monitorId, webhookUrl] = [`healthy${n}`, `https://healthy${n}.example/`];
    bench.add(monitorId, webhookUrl, [1]);
    return { monitorId, webhookUrl, accountId: 'a', isAnswering: true };
  };
});
