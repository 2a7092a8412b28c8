import { describe, expect, test } from 'vitest';
import type { LoadedComments } from '../../../../../services/api/reading/comment-tree.ts';
import { buildCommentTree } from '../../../../../services/api/reading/comment-tree.ts';
import { expandComments, readAroundComment, readThread } from '../../../../../services/api/reading/expand-comments.ts';
import {
  commentOf,
  rawComment,
  rawMore,
  rawMoreChildren,
  rawThread,
  shapeOf,
} from '../../../../support/samples/forum-threads.ts';
import { NOW, ScriptedForum } from '../../../../support/fakes/scripted-forum.ts';

const PAGE = '/comments/p0st';

const children = (...ids: string[]) => rawMoreChildren(ids.map((id) => rawComment(id, 't3_p0st')));
const shape = (loaded: LoadedComments) => shapeOf(buildCommentTree(loaded, Infinity).comments);
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `n${from + index}`);

describe('readThread', () => {
  test('requests 100 ids a call, four calls at once, and keeps page order whatever arrives first', async () => {
    const ids = numbered(0, 1_050);
    const forum = new ScriptedForum((question) =>
      question === PAGE ? rawThread([rawMore('t3_p0st', ids)]) : children(...question.slice(5).split(',')),
    );
    const read = await readThread(forum.request(2_000));
    expect(read.loaded.comments.map(({ id }) => id)).toEqual(ids);
    expect(forum.asked.slice(1).map((question) => question.split(',').length)).toEqual([
      ...Array<number>(10).fill(100),
      50,
    ]);
    expect(forum.maxConcurrent).toBe(4);
  });

  test('prefers upper levels and replies to higher scores', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([
        rawComment('low', 't3_p0st', { score: 2 }, [rawMore('t1_low', ['l1'])]),
        rawComment('high', 't3_p0st', { score: 9 }, [
          rawComment('deep', 't1_high', { score: 99 }, [rawMore('t1_deep', ['d1'])]),
          rawMore('t1_high', ['h1', 'h2']),
        ]),
        rawMore('t3_p0st', ['p1']),
      ]),
      'more p1,h1,h2,l1,d1': rawMoreChildren([]),
    });
    await readThread(forum.request(1_000));
    expect(forum.asked).toEqual([PAGE, 'more p1,h1,h2,l1,d1']);
  });
});

describe('a forum with unusual responses', () => {
  test('is asked once for a comment that it lacks, and replies to it are still placed', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([rawComment('a', 't3_p0st', {}, [rawMore('t1_a', ['gone', 'b'])])]),
      'more gone,b': rawMoreChildren([rawComment('reply', 't1_gone'), rawMore('t1_a', ['gone', 'b'])]),
    });
    const { loaded, complete } = await readThread(forum.request(9));
    expect([complete, shape(loaded), loaded.stubs]).toEqual([true, 'a(reply)', []]);
    expect(loaded.missing).toEqual([
      { id: 'gone', parentId: 't1_a' },
      { id: 'b', parentId: 't1_a' },
    ]);
  });
});

test('a passed deadline ends loading without a call', async () => {
  const forum = new ScriptedForum({ [PAGE]: rawThread([rawComment('a', 't3_p0st'), rawMore('t3_p0st', ['b', 'c'])]) });
  const clock = () => NOW + 8_000 * Math.min(1, forum.asked.length);
  const read = await readThread({ ...forum.request(50), clock });
  expect(read).toMatchObject({ complete: false, failure: { failure: 'timeout' }, calls: 1 });
  expect(forum.asked).toEqual([PAGE]);
});

describe('expandComments', () => {
  test('fetches only the missing comments', async () => {
    const loaded: LoadedComments = {
      comments: [commentOf('a', 't3_p0st'), commentOf('b', 't1_a')],
      stubs: [
        { parentId: 't1_b', childIds: [] },
        { parentId: 't3_p0st', childIds: ['c'] },
      ],
      missing: [{ id: 'x', parentId: 't1_a' }],
    };
    const before = structuredClone(loaded);
    const forum = new ScriptedForum({
      'more c': rawMoreChildren([rawComment('c', 't3_p0st', { is_submitter: null, author: 'kettle_fan' })]),
      '/comments/p0st/_/b': rawThread([
        rawComment('b', 't1_a', {}, [rawComment('d', 't1_b'), rawComment('e', 't1_x')]),
      ]),
    });
    const read = await expandComments(
      JSON.parse(JSON.stringify(loaded)) as LoadedComments,
      'kettle_fan',
      forum.request(9),
    );
    expect(shape(read.loaded)).toBe('a(b(d) e) c');
    expect(read.loaded.comments.find(({ id }) => id === 'c')?.is_submitter).toBe(true);
    expect(loaded).toEqual(before);
    expect(forum.asked.sort()).toEqual(['/comments/p0st/_/b', 'more c']);
  });
});

test('the way up from a comment ends at a cycle of parents', async () => {
  const forum = new ScriptedForum({ [PAGE]: rawThread([rawComment('f', 't1_g'), rawComment('g', 't1_f')]) });
  expect((await readAroundComment('f', 8, forum.request(9))).loaded.comments).toHaveLength(2);
});
