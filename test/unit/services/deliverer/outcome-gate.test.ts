import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OutcomeGate } from '../../../../services/deliverer/outcome-gate.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

const diskFull = () => Object.assign(new Error('could not extend file'), { code: '53100' });

class GateBench {
  now = 0;
  /** What the gate said at each try to store. */
  readonly said: string[] = [];
  readonly gate = new OutcomeGate({
    what: 'storing',
    logger: silentLogger(),
    monotonic: () => this.now,
    minMs: 1,
  });

  /** Stores an outcome that fails so often before its result. */
  store(failures: number, result: string | undefined): Promise<string | undefined> {
    let tries = 0;
    return this.gate.store(() => {
      this.said.push(this.gate.admits());
      return tries++ < failures ? Promise.reject(diskFull()) : Promise.resolve(result);
    });
  }
}

test('after the third failure of an outcome nothing is claimed until it is stored', async () => {
  const bench = new GateBench();
  expect(await bench.store(2, 'stored')).toBe('stored');
  expect(await bench.store(5, 'stored')).toBe('stored');
  expect(bench.said).toEqual([...Array<string>(6).fill('yes'), 'no', 'no', 'no']);
  expect(bench.gate.admits()).toBe('yes');
});

test('one outcome that is stored lets those that wait come first, for two seconds', async () => {
  const bench = new GateBench();
  const waiting = bench.store(Number.POSITIVE_INFINITY, undefined);
  const ended = expect(waiting).rejects.toThrow('could not extend file');
  const triedAgain = async () => {
    for (const before = bench.said.length; bench.said.length <= before + 1;) await turn();
  };
  while (bench.gate.admits() !== 'no') await turn();
  await bench.store(0, 'stored');
  bench.now += 1_999;
  expect(bench.gate.admits()).toBe('no');
  bench.now += 1;
  expect(bench.gate.admits()).toBe('yes');
  await triedAgain();
  expect(bench.gate.admits()).toBe('no');
  bench.gate.giveUp();
  await ended;
});

test('when other processes took all matches over, a single one is claimed every half a minute', async () => {
  const bench = new GateBench();
  expect(await bench.store(3, undefined)).toBeUndefined();
  const said = [29_999, 1, 0, 29_999, 1].map((pause) => {
    bench.now += pause;
    return bench.gate.admits();
  });
  expect(said).toEqual(['no', 'probe', 'no', 'no', 'probe']);
  expect(await bench.store(0, 'stored')).toBe('stored');
  expect(bench.gate.admits()).toBe('yes');
});

test('an error that is no outage is thrown at once', async () => {
  const bench = new GateBench();
  const fault = Object.assign(new Error('no such column'), { code: '42703' });
  await expect(bench.gate.store(() => Promise.reject(fault))).rejects.toThrow('no such column');
  expect(bench.gate.admits()).toBe('yes');
});

test('a stop gives up with the last error, and later outcomes are tried once', async () => {
  const bench = new GateBench();
  const waiting = bench.store(Number.POSITIVE_INFINITY, undefined);
  const ended = expect(waiting).rejects.toThrow('could not extend file');
  while (bench.said.length < 4) await turn();
  bench.gate.giveUp();
  await ended;
  await expect(bench.store(1, undefined)).rejects.toThrow('could not extend file');
  expect(await bench.store(0, 'stored')).toBe('stored');
});
