import { expect, test } from 'vitest';
import { sharesByFunction, sharesByPart } from '../../../bench/shared/cpu-profile.ts';
import type { CpuProfile } from '../../../bench/shared/cpu-profile.ts';

const ROOT = 'file:///somewhere';
const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
  ...{ id, children },
  callFrame: { functionName, url, lineNumber: 0 },
});

/** 10 ms in `match`, 20 in what it calls of Node, 30 in a package, 40 of collections, 900 idle. */
const PROFILE: CpuProfile = {
  nodes: [
    node(1, '(root)', '', [2, 4, 5, 6]),
    node(2, 'match', `${ROOT}/services/matcher/item-matcher.ts`, [3]),
    node(3, 'toString', 'node:buffer'),
    node(4, '', `${ROOT}/node_modules/@scope/name/dist/main.js`),
    node(5, '(garbage collector)', ''),
    node(6, '(idle)', ''),
  ],
  samples: [2, 3, 4, 5, 6],
  timeDeltas: [10_000, 20_000, 30_000, 40_000, 900_000],
};

test('what a part calls of Node is a share of the part, and idle time is no share', () => {
  expect(sharesByPart(PROFILE)).toEqual([
    { name: 'garbage collection', percent: 40 },
    { name: 'services/matcher', percent: 30 },
    { name: '@scope/name', percent: 30 },
  ]);
});

test('names functions with the file from the folder of the program on', () => {
  expect(sharesByFunction(PROFILE)).toEqual([
    { name: '(garbage collector) ', percent: 40 },
    { name: '(anonymous) node_modules/@scope/name/dist/main.js', percent: 30 },
    { name: 'toString node:buffer', percent: 20 },
    { name: 'match services/matcher/item-matcher.ts', percent: 10 },
  ]);
});
