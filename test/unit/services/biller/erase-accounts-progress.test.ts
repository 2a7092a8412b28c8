import { expect, test } from 'vitest';
import { isArchivedUpTo } from '../../../../services/biller/erase-accounts.ts';

const HEADS = { matches: { 0: '5', 1: '0' }, attempts: { 0: '9007199254740993' } };

test.each([
  ['exactly at the heads', { matches: { 0: '5', 1: '0' }, attempts: { 0: '9007199254740993' } }, true],
  ['past the heads', { matches: { 0: '6', 1: '3' }, attempts: { 0: '9007199254740994' } }, true],
  ['one record short', { matches: { 0: '4', 1: '0' }, attempts: { 0: '9007199254740993' } }, false],
  [
    'one record short, above the safe integers',
    { matches: { 0: '5', 1: '0' }, attempts: { 0: '9007199254740992' } },
    false,
  ],
  ['fewer digits', { matches: { 0: '5', 1: '0' }, attempts: { 0: '99' } }, false],
  ['a partition is missing', { matches: { 0: '5' }, attempts: { 0: '9007199254740993' } }, false],
  ['a topic is missing', { matches: { 0: '5', 1: '0' } }, false],
])('archived: %s', (_name, archived, expected) => {
  const heads = { matches: { 0: '90', 1: '90' }, attempts: { 0: '9007199254740999' } };
  expect(isArchivedUpTo(HEADS, { heads, archived })).toBe(expected);
});

test('a topic that was created again needs to be archived only up to its present head', () => {
  const heads = { matches: { 0: '2', 1: '0' }, attempts: { 0: '0' } };
  expect(isArchivedUpTo(HEADS, { heads, archived: { matches: { 0: '2', 1: '0' }, attempts: { 0: '0' } } })).toBe(true);
  expect(isArchivedUpTo(HEADS, { heads, archived: { matches: { 0: '1', 1: '0' }, attempts: { 0: '0' } } })).toBe(false);
});
