import { expect, test } from 'vitest';
import { unreadPostsByHour } from '../../../../../shared/crawl/rules/coverage.ts';
import type { UnreadStretch } from '../../../../../shared/crawl/rules/coverage.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

const stretch = (more: Partial<UnreadStretch>): UnreadStretch => ({
  afterThing: 't3_z9',
  beforeThing: 't3_100a',
  afterAt: 10 * HOUR,
  beforeAt: 10 * HOUR + 30 * MINUTE,
  openedAt: 12 * HOUR,
  found: 0,
  ...more,
});

// z9 is number 35 · 36 + 9 = 1269, 100a is 36 · 36 · 36 + 10 = 46666.
const IDS = 46_666 - 1_269 - 1;

test.each<{ what: string; stretches: UnreadStretch[]; unread: [number, number][] }>([
  { what: 'nothing', stretches: [], unread: [] },
  { what: 'a stretch within an hour', stretches: [stretch({})], unread: [[10, IDS]] },
  {
    what: 'a stretch over three hours',
    stretches: [stretch({ afterAt: 10 * HOUR + 45 * MINUTE, beforeAt: 12 * HOUR + 15 * MINUTE })],
    unread: [
      [10, IDS / 6],
      [11, (IDS * 4) / 6],
      [12, IDS / 6],
    ],
  },
  { what: 'a stretch partly found', stretches: [stretch({ found: 5_396 })], unread: [[10, 40_000]] },
  { what: 'a stretch with more found than it had ids', stretches: [stretch({ found: 99_999 })], unread: [[10, 0]] },
  {
    what: 'two stretches of an hour',
    stretches: [stretch({}), stretch({ beforeThing: 't3_zc' })],
    unread: [[10, IDS + 2]],
  },
  { what: 'no earliest time', stretches: [stretch({ afterAt: undefined })], unread: [[10, IDS]] },
  { what: 'no times', stretches: [stretch({ afterAt: undefined, beforeAt: undefined })], unread: [[12, IDS]] },
  { what: 'no first id', stretches: [stretch({ afterThing: undefined })], unread: [] },
  { what: 'no ids of posts', stretches: [stretch({ afterThing: 't1_a' })], unread: [] },
])('$what', ({ stretches, unread }) => {
  const rounded = [...unreadPostsByHour(stretches)].map(([hour, ids]) => [hour / HOUR, ids.toFixed(6)]);
  expect(rounded).toEqual(unread.map(([hour, ids]) => [hour, ids.toFixed(6)]));
});
