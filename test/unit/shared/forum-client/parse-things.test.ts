import { describe, expect, test } from 'vitest';
import { findRemoved, parseListing } from '../../../../shared/forum-client/parse-things.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';
import { COMMENT, POST } from '../../../support/samples/forum-things.ts';

describe('a listing', () => {
  const listing = (children: unknown[], after: string | null = null) => ({
    kind: 'Listing',
    data: { after, before: null, dist: null, children, geo_filter: '' },
  });

  test('returns its things in order, tolerates new fields, and counts unknown kinds', () => {
    const parsed = parseListing(
      listing(
        [
          { kind: 't3', data: POST },
          { kind: 'more', data: { children: [] } },
          { kind: 't1', data: COMMENT },
        ],
        't1_x',
      ),
    );
    expect(parsed.things.map(({ kind }) => kind)).toEqual(['t3', 't1']);
    expect(parsed.unknownKinds).toEqual(new Map([['more', 1]]));
    expect(parsed.after).toBe('t1_x');
    expect(parsed.faults).toEqual([]);
  });

  test('takes a thing with more text than a record can hold for one of unknown shape', () => {
    const text = 'x'.repeat(250_000);
    const parsed = parseListing(
      listing([
        { kind: 't3', data: { ...POST, title: text, selftext: text } },
        { kind: 't3', data: { ...POST, selftext: text } },
      ]),
    );
    expect(parsed.things).toHaveLength(1);
    expect(parsed.faults.map(({ path }) => path)).toEqual(['data.children.0.data']);
    expect(parsed.faults[0]?.message).toContain('at most 400000');
  });

  test.each([
    ['an error object', { message: 'Forbidden', error: 403 }, 'kind'],
    ['children that are not an array', { kind: 'Listing', data: { children: {} } }, 'data.children'],
    ['nothing', null, ''],
  ])('rejects %s and names the path', (_, body, path) => {
    expect(() => parseListing(body)).toThrow(UpstreamError);
    expect(() => parseListing(body)).toThrow(`"${path}"`);
  });
});

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
