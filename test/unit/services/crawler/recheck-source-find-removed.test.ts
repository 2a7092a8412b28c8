import { expect, test } from 'vitest';
import { findRemoved } from '../../../../services/crawler/recheck-source.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';

const answerOf = (...children: unknown[]) => ({ kind: 'Listing', data: { children } });

test.each([
  ['a comment', 't1', { body: 'text' }, false],
  ['a comment that a moderator removed', 't1', { body: '[removed]' }, true],
  ['a comment that its author deleted', 't1', { body: '[deleted]', author: '[deleted]' }, true],
  ['a comment that the staff removed', 't1', { body: '[ Removed by Reddit ]' }, true],
  ['a comment of a deleted account', 't1', { body: 'text', author: '[deleted]' }, false],
  ['a comment that mentions a removal', 't1', { body: 'it says [removed]' }, false],
  ['a post', 't3', { selftext: 'text', removed_by_category: null }, false],
  ['an old post without a category', 't3', { selftext: '' }, false],
  ['a post that a moderator removed', 't3', { selftext: '[removed]', removed_by_category: 'moderator' }, true],
  ['a removed link', 't3', { selftext: '', removed_by_category: 'reddit' }, true],
  ['a post that its author deleted', 't3', { selftext: '[deleted]', removed_by_category: 'deleted' }, true],
  ['a post that the staff removed', 't3', { selftext: '[ Removed by Reddit ]' }, true],
  ['a removed post of 2015', 't3', { selftext: '[removed]' }, true],
])('%s', (_, kind, data, isRemoved) => {
  const states = findRemoved(answerOf({ kind, data: { id: 'x', ...data } }));
  expect(states.present).toEqual(new Set([`${kind}_x`]));
  expect([...states.removed]).toEqual(isRemoved ? [`${kind}_x`] : []);
});

test('skips what it does not know, and refuses an answer that is no listing', () => {
  const states = findRemoved(
    answerOf(7, { kind: 't5', data: { id: 'y' } }, { kind: 't1', data: { id: 'x', body: 'a' } }),
  );
  expect(states).toEqual({ present: new Set(['t1_x']), removed: new Set() });
  expect(() => findRemoved({ message: 'Forbidden' })).toThrow(UpstreamError);
});
