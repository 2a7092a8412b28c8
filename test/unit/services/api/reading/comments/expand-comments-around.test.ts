import { describe, expect, test } from 'vitest';
import type { LoadedComments } from '../../../../../../services/api/reading/comments/comment-tree.ts';
import { buildCommentTree } from '../../../../../../services/api/reading/comments/comment-tree.ts';
import { readAroundComment } from '../../../../../../services/api/reading/comments/expand-comments.ts';
import {
  rawComment,
  rawMore,
  rawMoreChildren,
  rawThread,
  shapeOf,
} from '../../../../../support/samples/forum-threads.ts';
import { ScriptedForum } from '../../../../../support/fakes/scripted-forum.ts';

const PAGE = '/comments/p0st';
const shape = (loaded: LoadedComments) => shapeOf(buildCommentTree(loaded, Infinity).comments);

describe('readAroundComment', () => {
  const FOCUS = rawComment('f', 't1_c', {}, [
    rawComment('r1', 't1_f', {}, [rawComment('deeper', 't1_r1'), rawMore('t1_r1', ['x'])]),
    rawMore('t1_f', ['r2', 'r3']),
  ]);
  const page = rawThread([
    rawComment('b', 't1_a', {}, [rawComment('c', 't1_b', {}, [FOCUS, rawComment('other', 't1_c')])]),
  ]);
  const answers = {
    [PAGE]: page,
    'more r2,r3': rawMoreChildren([rawComment('r2', 't1_f'), rawMore('t1_r2', ['y']), rawComment('r3', 't1_f')]),
  };

  test.each([
    [0, 'f(r1)'],
    [1, 'c(f(r1))'],
    [8, 'b(c(f(r1)))'],
  ])('returns %i levels above it', async (context, expected) => {
    const forum = new ScriptedForum(answers);
    expect(shape((await readAroundComment('f', context, forum.request(1))).loaded)).toBe(expected);
  });

  test('ends at a cycle of parents', async () => {
    const forum = new ScriptedForum({ [PAGE]: rawThread([rawComment('f', 't1_g'), rawComment('g', 't1_f')]) });
    expect((await readAroundComment('f', 8, forum.request(9))).loaded.comments).toHaveLength(2);
  });
});
