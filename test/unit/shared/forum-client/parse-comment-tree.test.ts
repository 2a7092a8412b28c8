import { describe, expect, test } from 'vitest';
import { parseMoreChildren, parseThread } from '../../../../shared/forum-client/parse-comment-tree.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';
import type { RawThing } from '../../../support/samples/forum-threads.ts';
import { rawComment, rawListing, rawMore, rawMoreChildren, rawThread } from '../../../support/samples/forum-threads.ts';

function failureOf(answer: unknown): UpstreamError {
  try {
    parseThread(answer);
  } catch (error) {
    if (error instanceof UpstreamError) return error;
    throw error;
  }
  throw new Error('it was parsed');
}

describe('parseThread', () => {
  test('returns the post, its comments in page order, and the stubs', () => {
    const thread = parseThread(
      rawThread([
        rawComment('a', 't3_p0st', {}, [
          rawComment('b', 't1_a', {}, [rawMore('t1_b', [])]),
          rawMore('t1_a', ['c', 'd'], 7),
        ]),
        rawComment('e', 't3_p0st'),
        rawMore('t3_p0st', ['f']),
      ]),
    );
    expect(thread.post).toMatchObject({ id: 'p0st', title: 'Which kettle', author: 'kettle_fan' });
    expect(thread.comments.map(({ id, parent_id: parent }) => `${id} ${parent}`)).toEqual([
      'a t3_p0st',
      'b t1_a',
      'e t3_p0st',
    ]);
    expect(thread.stubs).toEqual([
      { parentId: 't1_b', childIds: [] },
      { parentId: 't1_a', childIds: ['c', 'd'] },
      { parentId: 't3_p0st', childIds: ['f'] },
    ]);
    expect(thread.unknownKinds.size).toBe(0);
  });

  test('maps every field of a comment', () => {
    const data = {
      author: 'kettle_fan',
      body: 'a < b & **c**',
      score: -4,
      created_utc: 1767225660.25,
      is_submitter: true,
      controversiality: 1,
      depth: 9,
      edited: 1767225700.0,
      distinguished: 'moderator',
      something_new: { nested: [1] },
    };
    expect(parseThread(rawThread([rawComment('zzzzzzzzzzzz9', 't1_abc', data)])).comments).toEqual([
      {
        id: 'zzzzzzzzzzzz9',
        parent_id: 't1_abc',
        author: 'kettle_fan',
        body: 'a < b & **c**',
        score: -4,
        created_at: '2026-01-01T00:01:00.250Z',
        depth: 0,
        is_submitter: true,
        controversy: 1,
        replies: [],
      },
    ]);
  });

  test.each([
    ['a deleted account', { author: null }, { author: '[deleted]', is_submitter: false }],
    ['a hidden score', { score: 1, score_hidden: true }, { score: 1 }],
    ['no score', { score: null }, { score: 0 }],
    ['the largest score that JSON carries', { score: 2 ** 53 - 1 }, { score: 2 ** 53 - 1 }],
    ['an inbox, which does not know what is disputed', { controversiality: null }, { controversy: 0 }],
    ['an old answer, by the poster', { is_submitter: undefined, author: 'kettle_fan' }, { is_submitter: true }],
    ['an old answer, by another', { is_submitter: null }, { is_submitter: false }],
  ])('reads %s', (_, data, expected) => {
    expect(parseThread(rawThread([rawComment('a', 't3_p0st', data)])).comments[0]).toMatchObject(expected);
  });

  test('counts and skips unknown kinds', () => {
    const unknown = { kind: 't9', data: { replies: rawListing([rawComment('x', 't1_y')]) } };
    const thread = parseThread(
      rawThread([unknown, rawComment('a', 't3_p0st', {}, [unknown]), { kind: 'ad', data: 1 }]),
    );
    expect([...thread.unknownKinds]).toEqual([
      ['t9', 2],
      ['ad', 1],
    ]);
    expect(thread.comments.map(({ id }) => id)).toEqual(['a']);
  });

  test('throws not_found without a post', () => {
    expect(failureOf([rawListing([]), rawListing([])]).failure).toBe('not_found');
  });

  test.each([
    ['no array', { kind: 'Listing' }, '""'],
    ['one Listing', [rawListing([])], 'at "": Too small'],
    ['an error in place of comments', [rawListing([]), { error: 500 }], '"1.kind"'],
    ['a post of another kind', [rawListing([rawComment('a', 't1_b')]), rawListing([])], '"0.data.children.0.kind"'],
    ['a post without a title', rawThread([], { title: ['secret'] }), '"0.data.children.0.data.title"'],
  ])('throws broken with the path, without content, for %s', (_, answer, path) => {
    const error = failureOf(answer);
    expect([error.failure, error.reason]).toEqual(['broken', 'shape']);
    expect(error.message).toContain(path);
    expect(error.message).not.toContain('secret');
  });

  test.each<[string, unknown, string]>([
    ['a comment whose text is no text', rawComment('b', 't1_a', { body: ['secret'] }), '.data.body'],
    ['a parent that is not a fullname', rawComment('b', 'abc'), '.data.parent_id'],
    ['a stub without a parent', { kind: 'more', data: { children: ['b'] } }, '.data.parent_id'],
    ['a child that is nothing', null, ''],
  ])('leaves %s out, and says where it was and why, without content', (_, child, path) => {
    const { comments, faults } = parseThread(rawThread([nest(2, child as RawThing), rawComment('last', 't3_p0st')]));
    expect(comments.at(-1)?.id).toBe('last');
    const replies = '.data.replies.data.children.0';
    expect(faults.map((fault) => fault.path)).toEqual([`1.data.children.0${replies}${replies}${path}`]);
    expect(faults[0]!.message).not.toContain('secret');
  });

  test('parses 50,000 levels and names the path of a broken node there', () => {
    const depth = 50_000;
    const thread = parseThread(rawThread([nest(depth, rawMore('t1_x', []))]));
    expect([thread.comments.length, thread.stubs.length]).toEqual([depth, 1]);
    const [fault] = parseThread(rawThread([nest(depth, { kind: 't1', data: { id: 'x' } })])).faults;
    expect(fault?.path).toContain(`… ${depth + 1 - 8} levels …`);
    expect(fault?.path.length).toBeLessThan(500);
  });
});

describe('parseMoreChildren', () => {
  test('returns a flat list of comments and stubs', () => {
    const things = [rawComment('b', 't1_a', { author: 'kettle_fan', is_submitter: undefined }), rawMore('t1_b', ['c'])];
    const found = parseMoreChildren(rawMoreChildren(things), 'kettle_fan');
    expect(found.comments.map(({ id, is_submitter: isOwn }) => [id, isOwn])).toEqual([['b', true]]);
    expect(found.stubs).toEqual([{ parentId: 't1_b', childIds: ['c'] }]);
  });

  test.each([
    [{ json: { errors: [['RATELIMIT', 'slow down', null]] } }, 'json.data'],
    [{ jquery: [] }, '"json"'],
  ])('throws broken with the path for another shape', (answer, path) => {
    expect(() => parseMoreChildren(answer, '')).toThrow(path);
  });
});

/** A chain of comments with a given last node. */
function nest(depth: number, end: RawThing): RawThing {
  let thing = end;
  for (let level = depth; level > 0; level--) thing = rawComment(`c${level}`, 't1_x', {}, [thing]);
  return thing;
}
