import { expect, test } from 'vitest';
import { hasFinished, readGroupProgress, GroupProgressUnavailable } from '../../../../shared/kafka/group-progress.ts';
import type { KafkaConnection } from '../../../../shared/kafka/kafka-connection.ts';

const at = (finished: string, head: string) => ({
  finished: { items: { 0: finished } },
  heads: { items: { 0: head } },
});

test.each([
  ['at the head', at('12', '20'), true],
  ['behind the head', at('11', '20'), false],
  ['behind numbers that text would order otherwise', at('9', '20'), false],
  ['at the end of a topic that was created again', at('3', '3'), true],
  ['without the partition', { finished: {}, heads: {} }, false],
])('a group %s', (_name, progress, expected) => {
  expect(hasFinished({ items: { 0: '12' } }, progress)).toBe(expected);
});

test('all partitions count, and no topics are finished', () => {
  const progress = { finished: { items: { 0: '5', 1: '4' } }, heads: { items: { 0: '5', 1: '5' } } };
  expect(hasFinished({ items: { 0: '5', 1: '5' } }, progress)).toBe(false);
  expect(hasFinished({ items: { 0: '5', 1: '4' } }, progress)).toBe(true);
  expect(hasFinished({}, progress)).toBe(true);
});

test('a broker that does not answer is told apart from other errors', async () => {
  const kafka = { withAdmin: () => Promise.reject(new Error('no broker')) } as unknown as KafkaConnection;
  await expect(readGroupProgress(kafka, '', { group: 'g', topics: ['items'] })).rejects.toThrow(
    GroupProgressUnavailable,
  );
});

test('what expired is finished, and so is nothing that was never committed', async () => {
  const admin = {
    fetchOffsets: () =>
      Promise.resolve([
        {
          topic: 'p-items',
          partitions: [
            { partition: 0, offset: '-1' },
            { partition: 1, offset: '7' },
          ],
        },
      ]),
    fetchTopicOffsets: () =>
      Promise.resolve([
        { partition: 0, low: '3', high: '9' },
        { partition: 1, low: '0', high: '9' },
      ]),
  };
  const kafka = { withAdmin: (work: (given: typeof admin) => unknown) => work(admin) } as unknown as KafkaConnection;
  expect(await readGroupProgress(kafka, 'p-', { group: 'g', topics: ['items'] })).toEqual({
    heads: { items: { 0: '9', 1: '9' } },
    finished: { items: { 0: '3', 1: '7' } },
  });
});
