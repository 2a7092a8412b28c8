import { expect, test } from 'vitest';
import { EventQueue } from '../../../support/virtual-crawl/event-queue.ts';

test('runs events in the order of their times, and those of one moment in the order of scheduling', () => {
  const queue = new EventQueue(1_000);
  const ran: string[] = [];
  queue.at(3_000, () => ran.push('c'));
  queue.at(2_000, (now) => {
    ran.push(`a${now}`);
    queue.at(2_000, () => ran.push('b'));
    queue.at(500, () => ran.push('past means now'));
  });
  queue.at(5_000, () => ran.push('later'));
  queue.at(3_000, () => ran.push('d'));
  queue.runUntil(4_000);
  expect(ran).toEqual(['a2000', 'b', 'past means now', 'c', 'd']);
  expect(queue.now).toBe(4_000);
});

test('keeps the order of thousands of events', () => {
  const queue = new EventQueue(0);
  const times: number[] = [];
  for (let n = 0; n < 5_000; n++) queue.at((n * 7_919) % 10_007, (now) => times.push(now));
  queue.runUntil(20_000);
  expect(times).toHaveLength(5_000);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});
