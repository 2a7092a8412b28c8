import { expect, test } from 'vitest';
import { countMalformed, countWindow } from '../../../../../services/crawler/coverage/audit-source.ts';

const window = { start: 100_000, end: 200_000 };
const comment = (createdAt: number, seenAt: number, source = 'threads') => ({ createdAt, seenAt, source });

test('counts the comments of the window, and as seen what another source had seen when the readings began', () => {
  const archived = new Map([
    ['t1_before', comment(99_999, 100_000)],
    ['t1_seen', comment(100_000, 101_000)],
    ['t1_audited', comment(150_000, 160_000, 'audit')],
    ['t1_late', comment(150_000, 300_001)],
    ['t1_after', comment(200_000, 201_000)],
  ]);
  const found = [{ created_utc: 199 }, { created_utc: 200 }];
  expect(countWindow({ window, seenBy: 300_000, found, archived, unread: 0 })).toEqual({ seen: 1, total: 4 });
});

test('what could not be read counts as not seen, in proportion to what was', () => {
  const archived = new Map([
    ['t1_a', comment(150_000, 151_000)],
    ['t1_b', comment(150_000, 151_000)],
    ['t1_c', comment(50_000, 51_000)],
  ]);
  const found = [{ created_utc: 150 }];
  const reading = { window, seenBy: 300_000, found, archived };
  expect(countWindow({ ...reading, unread: 4 })).toEqual({ seen: 2, total: 6 });
  expect(countWindow({ ...reading, unread: 1 })).toEqual({ seen: 2, total: 4 });
  const nothing = { window, seenBy: 300_000, found: [], archived: new Map() };
  expect(countWindow({ ...nothing, unread: 7 })).toEqual({ seen: 0, total: 7 });
});

test('a comment of unknown shape counts once, however often it was shown, until it is archived', () => {
  const malformed = (name: string | undefined, raw: object = {}) => ({ kind: 't1', name, raw }) as const;
  const archived = new Set(['t1_replayed']);
  const shown = ['t1_a', 't1_a', 't1_replayed'].map((name) => malformed(name));
  expect(countMalformed(shown, archived)).toBe(1);
  expect(countMalformed([malformed(undefined), malformed(undefined)], archived)).toBe(2);
  expect(countMalformed([{ kind: 't3', name: 't3_p', raw: {} }], archived)).toBe(0);
});
