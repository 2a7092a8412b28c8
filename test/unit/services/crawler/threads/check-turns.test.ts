import { expect, test } from 'vitest';
import { CheckTurns } from '../../../../../services/crawler/threads/check-turns.ts';

function checksOf(turns: CheckTurns, calls: number): number {
  let checks = 0;
  for (let call = 0; call < calls; call++) {
    if (turns.mayCheck) {
      turns.noteCheck(1);
      checks += 1;
    } else turns.noteReading(1);
  }
  return checks;
}

test.each([0.25, 0.5, 1])('checks take their share of the calls: %d', (share) => {
  const turns = new CheckTurns();
  turns.share = share;
  expect(checksOf(turns, 1_000)).toBe(1_000 * share);
});

test('a call that failed does not count', () => {
  const turns = new CheckTurns();
  turns.share = 0.25;
  turns.noteCheck(1);
  expect(turns.mayCheck).toBe(false);
  turns.noteReading(1);
  turns.noteReading(-1);
  expect(turns.mayCheck).toBe(false);
  turns.noteCheck(-1);
  expect(turns.mayCheck).toBe(true);
});

test('after a time without readings only a few are made up for', () => {
  const turns = new CheckTurns();
  turns.share = 0.5;
  for (let call = 0; call < 1_000; call++) turns.noteCheck(1);
  expect(checksOf(turns, 100)).toBe(46);
});
