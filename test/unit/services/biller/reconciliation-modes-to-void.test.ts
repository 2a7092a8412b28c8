import { expect, test } from 'vitest';
import { modesToVoid } from '../../../../services/biller/reconciliation.ts';

test.each([
  ['the trial itself', 'trial', true, []],
  ['the simulated forum, reached by others', undefined, true, []],
  ['a real forum', undefined, false, ['trial']],
  ['a test key', 'test', true, ['trial']],
  ['a test key and a real forum', 'test', false, ['trial']],
  ['a live key', 'live', true, ['trial', 'test']],
  ['a live key and a real forum', 'live', false, ['trial', 'test']],
] as const)('with %s', (_name, mode, hasSimulatedForum, voided) => {
  expect(modesToVoid({ mode, hasSimulatedForum })).toEqual(voided);
});
