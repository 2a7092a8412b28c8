import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Comment } from '../../../../../schemas/messages/forum-post.ts';
import { buildCommentTree, inPageOrder } from '../../../../../services/api/reading/comment-tree.ts';
import type { LoadedComments } from '../../../../../services/api/reading/comment-tree.ts';
import { commentOf, shapeOf } from '../../../../support/samples/forum-threads.ts';

/** `b<a`: b replies to a; `a`: a replies to the post. */
function loaded(comments: string, rest: Partial<LoadedComments> = {}): LoadedComments {
  const flat = comments.split(' ').filter((word) => word !== '');
  const parsed = flat.map((word) => {
    const [id, parent] = word.split('<');
    return commentOf(id!, parent === undefined ? 't3_p0st' : `t1_${parent}`);
  });
  return { comments: parsed, stubs: [], missing: [], ...rest };
}
const build = (comments: string, limit = Infinity, rest: Partial<LoadedComments> = {}) =>
  buildCommentTree(loaded(comments, rest), limit);

describe('buildCommentTree', () => {
  test('puts a comment with a missing parent below its nearest loaded ancestor', () => {
    const missing = [
      { id: 'x', parentId: 't1_a' },
      { id: 'y', parentId: 't1_x' },
    ];
    const tree = build('a b<y c', Infinity, { missing });
    expect(shapeOf(tree.comments)).toBe('a(b) c');
    expect(tree.comments[0]?.replies[0]).toMatchObject({ parent_id: 't1_y', depth: 1 });
    const stubs = [{ parentId: 't1_a', childIds: ['x'] }];
    expect(shapeOf(build('a b<x', Infinity, { stubs }).comments)).toBe('a(b)');
  });

  test('puts a comment without known ancestors at the top and keeps its parent_id', () => {
    const [orphan] = build('b<gone c<b').comments;
    expect(orphan).toMatchObject({ id: 'b', parent_id: 't1_gone', depth: 0, replies: [{ id: 'c', depth: 1 }] });
    const circle = [
      { id: 'x', parentId: 't1_y' },
      { id: 'y', parentId: 't1_x' },
    ];
    expect(shapeOf(build('b<x', Infinity, { missing: circle }).comments)).toBe('b');
  });

  test('builds a chain of 50,000 comments', () => {
    const ids = Array.from({ length: 50_000 }, (_, index) => `c${index}`);
    const tree = build(ids.map((id, index) => (index === 0 ? id : `${id}<c${index - 1}`)).join(' '));
    expect(tree.returned).toBe(50_000);
    expect(inPageOrder(tree.comments).at(-1)).toMatchObject({ id: 'c49999', depth: 49_999 });
  });
});

describe('any comments', () => {
  const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
  const parents = fc.oneof(
    fc.constant('t3_p0st'),
    ids.map((id) => `t1_${id}`),
    fc.constant('t1_gone'),
  );
  const anyLoaded = fc.record({
    comments: fc.array(
      fc.tuple(ids, parents).map(([id, parent]) => commentOf(id, parent)),
      { maxLength: 12 },
    ),
    stubs: fc.array(fc.record({ parentId: parents, childIds: fc.array(ids, { maxLength: 3 }) }), { maxLength: 3 }),
    missing: fc.array(fc.record({ id: ids, parentId: parents }), { maxLength: 4 }),
  });

  test('are in the tree once, below their parents when these are loaded and not in a cycle', () => {
    fc.assert(
      fc.property(anyLoaded, (given) => {
        const tree = buildCommentTree(given, Infinity);
        const all = inPageOrder(tree.comments);
        const first = new Map(given.comments.toReversed().map((comment) => [comment.id, comment]));
        expect(all.map(({ id }) => id).sort()).toEqual([...first.keys()].sort());
        expect(tree.returned).toBe(first.size);
        const above = new Map<string, Comment>();
        for (const parent of all) for (const reply of parent.replies) above.set(reply.id, parent);
        for (const { id, parent_id: parent, depth } of all) {
          expect(parent).toBe(first.get(id)?.parent_id);
          expect(depth).toBe(above.has(id) ? above.get(id)!.depth + 1 : 0);
          const isLoaded = first.has(parent.slice(3)) && parent.startsWith('t1_');
          if (isLoaded && !isInCircle(id, given)) expect(above.get(id)?.id).toBe(parent.slice(3));
        }
      }),
    );
  });

  test('lose the deepest and last ones when the tree is limited', () => {
    fc.assert(
      fc.property(anyLoaded, fc.nat(9), (given, limit) => {
        const whole = inPageOrder(buildCommentTree(given, Infinity).comments);
        const byLevel = whole.map(({ id, depth }, index) => ({ id, depth, index }));
        byLevel.sort((a, b) => a.depth - b.depth || a.index - b.index);
        const cut = inPageOrder(buildCommentTree(given, limit).comments);
        expect(cut.map(({ id }) => id).sort()).toEqual(
          byLevel
            .slice(0, limit)
            .map(({ id }) => id)
            .sort(),
        );
      }),
    );
  });

  /** Whether the way up from a comment, also over comments that are only known as absent, comes back to it. */
  function isInCircle(id: string, given: LoadedComments): boolean {
    const parents = new Map<string, string>();
    for (const { id: absent, parentId } of given.missing) parents.set(absent, parentId);
    for (const { parentId, childIds } of given.stubs) for (const child of childIds) parents.set(child, parentId);
    const loaded = new Set<string>();
    for (const { id: known, parent_id: parent } of given.comments) {
      if (!loaded.has(known)) parents.set(known, parent);
      loaded.add(known);
    }
    let parent = parents.get(id);
    for (let steps = 0; parent?.startsWith('t1_') === true && steps < 20; steps++) {
      if (parent.slice(3) === id) return true;
      parent = parents.get(parent.slice(3));
    }
    return false;
  }
});
