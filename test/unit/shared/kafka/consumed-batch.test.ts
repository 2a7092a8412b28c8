import { expect, test } from 'vitest';
import { cutUnits } from '../../../../shared/kafka/consumed-batch.ts';
import type { ConsumedRecord } from '../../../../shared/kafka/consumed-batch.ts';

function records(from: number, to: number): ConsumedRecord[] {
  const list: ConsumedRecord[] = [];
  for (let offset = from; offset <= to; offset++) {
    list.push({
      topic: 't',
      partition: 0,
      offset: BigInt(offset),
      key: '',
      value: Buffer.alloc(0),
      headers: {},
      timestampMs: 0,
    });
  }
  return list;
}

const cases: [name: string, from: number, to: number, committed: bigint | undefined, max: number, units: number[][]][] =
  [
    ['nothing committed, no limit', 5, 8, undefined, Infinity, [[5, 6, 7, 8]]],
    ['limit', 5, 9, undefined, 2, [[5, 6], [7, 8], [9]]],
    ['starts at the committed offset', 5, 7, 5n, Infinity, [[5, 6, 7]]],
    [
      'reaches across the committed offset',
      3,
      7,
      5n,
      Infinity,
      [
        [3, 4],
        [5, 6, 7],
      ],
    ],
    ['wholly below', 3, 4, 5n, Infinity, [[3, 4]]],
    ['limit and committed offset', 1, 6, 4n, 2, [[1, 2], [3], [4, 5], [6]]],
    ['empty', 1, 0, 4n, 2, []],
  ];

test.each(cases)('%s', (_, from, to, committed, max, units) => {
  const cut = cutUnits(records(from, to), committed, max);
  expect(cut.map((unit) => unit.map(({ offset }) => Number(offset)))).toEqual(units);
});
