import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OutcomeGate } from '../../../../services/deliverer/start-dispatching.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

const diskFull = () => Object.assign(new Error('could not extend file'), { code: '53100' });

class GateBench {
  /** What the gate said at each try to store. */
  readonly said: boolean[] = [];
  readonly gate = new OutcomeGate({
    what: 'storing',
    logger: silentLogger(),
    minMs: 1,
  });

  /** Stores an outcome that fails so often before its result. */
  store(failures: number, result: string | undefined): Promise<string | undefined> {
    let tries = 0;
    return this.gate.store(() => {
      this.said.push(this.gate.isOpen);
      return tries++ < failures ? Promise.reject(diskFull()) : Promise.resolve(result);
    });
  }
}

test('after the third failure of an outcome nothing is claimed until it is stored', async () => {
  const bench = new GateBench();
  expect(await bench.store(2, 'stored')).toBe('stored');
  expect(await bench.store(5, 'stored')).toBe('stored');
  expect(bench.said).toEqual([...Array<boolean>(6).fill(true), false, false, false]);
  expect(bench.gate.isOpen).toBe(true);
});

test('an error that is no outage is thrown at once', async () => {
  const bench = new GateBench();
  const fault = Object.assign(new Error('no such column'), { code: '42703' });
  await expect(bench.gate.store(() => Promise.reject(fault))).rejects.toThrow('no such column');
  expect(bench.gate.isOpen).toBe(true);
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
