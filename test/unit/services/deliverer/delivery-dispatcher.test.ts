import { describe, expect, test } from 'vitest';
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

  test('has at most 64 attempts in flight per origin, whatever the paths', async () => {
    const bench = new Bench();
    for (const n of range(30)) bench.add(`m${n}`, `https://shared.example/${n}`, range(4));
    for (const n of range(30)) bench.hintAll(`m${n}`);
    await bench.settle();
    expect(bench.started).toHaveLength(64);
    await bench.drain();
    expect(bench.started).toHaveLength(120);
  });

  test('delivers to other endpoints at once while one is dead, and claims nothing more for the dead one', async () => {
    const bench = new Bench();
    bench.add('dead', 'https://dead.example/', range(1_000));
    bench.dispatcher.markDue({ monitorId: 'dead', webhookUrl: 'https://dead.example/', isAnswering: null });
    await bench.settle();
    expect(bench.started).toHaveLength(4);
    const claims = bench.claims;
    for (let i = 0; i < 10; i++)
      bench.dispatcher.markDue({ monitorId: 'dead', webhookUrl: 'https://dead.example/', isAnswering: null });
    await bench.settle();
    expect(bench.claims).toBe(claims);
    for (const n of range(20)) {
      bench.add(`m${n}`, `https://host${n}.example/`, [1]);
      bench.hintAll(`m${n}`);
    }
    await bench.settle();
    expect(bench.started).toHaveLength(24);
  });

  test('claims due matches before hints and continues until none is due', async () => {
    const bench = new Bench();
    bench.add('a', 'https://one.example/', range(30));
    bench.dispatcher.addHint('a', 30);
    bench.dispatcher.markDue({ monitorId: 'a', webhookUrl: 'https://one.example/', isAnswering: null });
    await bench.drain();
    await bench.settle();
    await bench.drain();
    expect(new Set(bench.ids()).size).toBe(30);
    expect(bench.started).toHaveLength(30);
    expect(bench.ids().indexOf('a/30')).toBeGreaterThan(bench.ids().indexOf('a/4'));
  });

  test('drops hints over the limit and accepts hints again later', async () => {
    const bench = new Bench({ hints: 6 });
    bench.add('a', 'https://one.example/', range(20));
    const taken = range(20).map((seq) => bench.dispatcher.addHint('a', seq));
    expect(taken.filter(Boolean)).toHaveLength(6);
    await bench.settle();
    await bench.drain();
    expect(bench.started).toHaveLength(6);
    expect(bench.dispatcher.addHint('a', 7)).toBe(true);
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

  test('claims nothing while outcomes cannot be stored, except one match as a probe', async () => {
    const bench = new Bench();
    bench.add('a', 'https://one.example/x', range(6));
    const due = () => {
      bench.dispatcher.markDue({ monitorId: 'a', webhookUrl: 'https://one.example/x', isAnswering: null });
      return bench.settle();
    };
    bench.admits = () => 'no';
    bench.hintAll('a');
    await due();
    expect(bench.claims).toBe(0);
    const answers = ['probe'] as const;
    let asked = 0;
    bench.admits = () => answers[asked++] ?? 'no';
    await due();
    expect(bench.ids()).toEqual(['a/1']);
    bench.admits = () => 'yes';
    await due();
    expect(bench.ids()).toEqual(['a/1', 'a/2', 'a/3', 'a/4']);
  });

  test('claims nothing after stop and waits for attempts in flight', async () => {
    const bench = new Bench();
    bench.add('a', 'https://one.example/', range(10));
    bench.hintAll('a');
    await bench.settle();
    let stopped = false;
    const stopping = bench.dispatcher.stop().then(() => (stopped = true));
    bench.dispatcher.addHint('a', 9);
    for (const attempt of bench.started.slice(0, 3)) attempt.end();
    await bench.settle();
    expect([bench.started.length, stopped]).toEqual([4, false]);
    bench.started[3]!.end();
    await stopping;
    expect(bench.started).toHaveLength(4);
  });

  test('continues with new work after an error of the database', async () => {
    const bench = new Bench();
    bench.add('a', 'https://one.example/', [1]);
    const { urls } = bench;
    const get = urls.get.bind(urls);
    urls.get = () => {
      urls.get = get;
      throw new Error('away');
    };
    bench.hintAll('a');
    await bench.settle();
    expect(bench.errors).toHaveLength(1);
    bench.hintAll('a');
    await bench.settle();
    expect(bench.ids()).toEqual(['a/1']);
  });
});
