import { expect, test } from 'vitest';
import { FailurePhases } from '../../../../services/deliverer/failure-phases.ts';

test('each phase of failures begins once and ends once, for each monitor', () => {
  const phases = new FailurePhases();
  const told = [true, true, true, false, false, true, false].map((isFailed) => phases.note('a', isFailed));
  expect(told).toEqual(['begins to fail', 'fails', 'fails', 'works again', 'works', 'begins to fail', 'works again']);
  phases.note('a', true);
  expect(phases.note('b', true)).toBe('begins to fail');
  expect(phases.note('b', false)).toBe('works again');
  expect(phases.note('a', true)).toBe('fails');
});

test('what it remembers is bounded', () => {
  const phases = new FailurePhases();
  for (let n = 0; n <= 10_000; n++) phases.note(`monitor ${n}`, true);
  expect(phases.note('monitor 0', true)).toBe('begins to fail');
  expect(phases.note('monitor 10000', true)).toBe('fails');
});
