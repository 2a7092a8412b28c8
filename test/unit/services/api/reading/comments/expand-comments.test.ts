import { describe, expect, test } from 'vitest';
import type { LoadedComments } from '../../../../../../services/api/reading/comments/comment-tree.ts';
import { buildCommentTree } from '../../../../../../services/api/reading/comments/comment-tree.ts';
import { expandComments, readThread } from '../../../../../../services/api/reading/comments/expand-comments.ts';
import { UpstreamError } from '../../../../../../shared/upstream/upstream-error.ts';
import {
  commentOf,
  rawComment,
  rawMore,
  rawMoreChildren,
  rawThread,
  shapeOf,
} from '../../../../../support/samples/forum-threads.ts';
import { NOW, ScriptedForum } from '../../../../../support/fakes/scripted-forum.ts';

const PAGE = '/comments/p0st';

const children = (...ids: string[]) => rawMoreChildren(ids.map((id) => rawComment(id, 't3_p0st')));
const shape = (loaded: LoadedComments) => shapeOf(buildCommentTree(loaded, Infinity).comments);
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `n${from + index}`);

describe('readThread', () => {
  test('makes one call when the first page is enough', async () => {
    const forum = new ScriptedForum({ [PAGE]: rawThread([rawComment('a', 't3_p0st'), rawMore('t3_p0st', ['b'])]) });
    const read = await readThread(forum.request(1));
    expect(read).toMatchObject({ complete: true, failure: undefined, calls: 1, post: { id: 'p0st' } });
    expect(shape(read.loaded)).toBe('a');
    expect(read.loaded.stubs).toEqual([{ parentId: 't3_p0st', childIds: ['b'] }]);
    expect(forum.params).toEqual([{ limit: '500', sort: 'confidence' }]);
    expect(forum.calls).toEqual([{ lane: 'reading', endpoint: '/comments/ID', deadlineMs: 8_000 }]);
  });

  test('requests stubs and deeper levels until nothing is left', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([
        rawComment('a', 't3_p0st', {}, [rawComment('b', 't1_a', {}, [rawMore('t1_b', [])])]),
        rawMore('t3_p0st', ['c', 'd']),
      ]),
      'more c,d': rawMoreChildren([
        rawComment('e', 't1_c'),
        rawComment('c', 't3_p0st'),
        rawComment('d', 't3_p0st'),
        rawMore('t1_d', ['f', 'g']),
      ]),
      '/comments/p0st/_/b': rawThread([
        rawComment('b', 't1_a', {}, [rawComment('h', 't1_b', {}, [rawMore('t1_h', ['i'])])]),
      ]),
      'more f,g,i': rawMoreChildren([rawComment('i', 't1_h'), rawComment('f', 't1_d'), rawComment('g', 't1_d')]),
    });
    const read = await readThread(forum.request(100));
    expect(shape(read.loaded)).toBe('a(b(h(i))) c(e) d(f g)');
    expect(read.loaded).toMatchObject({ stubs: [], missing: [] });
    expect(read).toMatchObject({ complete: true, calls: 4 });
    expect(forum.asked).toEqual([PAGE, 'more c,d', '/comments/p0st/_/b', 'more f,g,i']);
    expect(forum.params[1]).toEqual({
      api_type: 'json',
      link_id: 't3_p0st',
      children: 'c,d',
      limit_children: 'false',
      sort: 'confidence',
    });
    expect(new Set(forum.calls.map(({ endpoint }) => endpoint))).toEqual(
      new Set(['/comments/ID', '/api/morechildren', '/comments/ID/_/CID']),
    );
  });

  test('limits its calls by the requested number of comments and leaves other stubs open', async () => {
    const page = rawThread([rawMore('t3_p0st', numbered(0, 20_000))]);
    const forum = new ScriptedForum((question) => (question === PAGE ? page : children()));
    const read = await readThread(forum.request(200));
    expect(read).toMatchObject({ complete: false, failure: undefined });
    expect(forum.asked.length).toBeLessThanOrEqual(20);
    expect(read.loaded.stubs).not.toEqual([]);
  });

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

  test('stops with enough comments and fills the last call', async () => {
    const ids = numbered(0, 1_000);
    const forum = new ScriptedForum((question) =>
      question === PAGE
        ? rawThread([rawComment('a', 't3_p0st'), rawMore('t3_p0st', ids)])
        : children(...question.slice(5).split(',')),
    );
    const read = await readThread(forum.request(152));
    expect(read.loaded.comments).toHaveLength(201);
    expect(read.loaded.stubs).toEqual([{ parentId: 't3_p0st', childIds: ids.slice(200) }]);
    expect(forum.asked).toHaveLength(3);
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

  test('counts unknown kinds over all responses', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([{ kind: 't9', data: {} }, rawMore('t3_p0st', ['a'])]),
      'more a': rawMoreChildren([{ kind: 't9', data: {} }, rawComment('a', 't3_p0st')]),
    });
    expect([...(await readThread(forum.request(5))).unknownKinds]).toEqual([['t9', 2]]);
  });

  test('throws when the first page fails', async () => {
    const forum = new ScriptedForum({ [PAGE]: new UpstreamError('refused', 'no', { reason: 'private' }) });
    await expect(readThread(forum.request(5))).rejects.toMatchObject({ failure: 'refused', reason: 'private' });
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

  test('is asked once for the replies of a comment, even if it only repeats the stub', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([rawComment('a', 't3_p0st', {}, [rawMore('t1_a', [])])]),
      '/comments/p0st/_/a': rawThread([rawComment('a', 't3_p0st', {}, [rawMore('t1_a', [])])]),
    });
    expect((await readThread(forum.request(9))).loaded).toMatchObject({ stubs: [], comments: [{ id: 'a' }] });
  });

  test('may have deleted a comment before its replies are requested', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([rawComment('a', 't3_p0st', {}, [rawMore('t1_a', [])])]),
      '/comments/p0st/_/a': new UpstreamError('not_found', 'gone'),
    });
    expect(await readThread(forum.request(9))).toMatchObject({ complete: true, loaded: { stubs: [] } });
  });

  test('may name a comment in two stubs and return a missing comment later', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([rawMore('t3_p0st', ['a', 'b']), rawMore('t3_p0st', ['b', 'a', 'c'])]),
      'more a,b,c': rawMoreChildren([rawComment('a', 't3_p0st'), rawMore('t1_a', [])]),
      '/comments/p0st/_/a': rawThread([rawComment('b', 't1_a')]),
    });
    const { loaded } = await readThread(forum.request(9));
    expect([shape(loaded), loaded.missing]).toEqual(['a(b)', [{ id: 'c', parentId: 't3_p0st' }]]);
  });

  test('is not asked for stubs below the post or for comments it already returned', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([rawComment('a', 't3_p0st'), rawMore('t3_p0st', []), rawMore('t3_p0st', ['a'])]),
    });
    expect(await readThread(forum.request(9))).toMatchObject({ calls: 1, loaded: { stubs: [] } });
  });
});

describe('failures after the first page', () => {
  const ids = numbered(0, 300);
  const failing = (error: Error) =>
    new ScriptedForum((question) => {
      if (question === PAGE) return rawThread([rawComment('a', 't3_p0st'), rawMore('t3_p0st', ids)]);
      return question.startsWith('more n100,') ? error : children(...question.slice(5).split(','));
    });

  test.each(['busy', 'timeout', 'broken', 'refused'] as const)(
    '(%s) leave what there is, to go on from',
    async (kind) => {
      const forum = failing(new UpstreamError(kind, 'no'));
      const read = await readThread(forum.request(1_000));
      expect(read).toMatchObject({ complete: false, failure: { failure: kind }, calls: 4 });
      expect(read.loaded.comments).toHaveLength(201);
      expect(read.loaded.stubs).toEqual([{ parentId: 't3_p0st', childIds: ids.slice(100, 200) }]);
      const later = new ScriptedForum((question) => children(...question.slice(5).split(',')));
      const rest = await expandComments(read.loaded, 'kettle_fan', later.request(1_000));
      expect(rest).toMatchObject({ complete: true, calls: 1, loaded: { stubs: [] } });
      expect(rest.loaded.comments).toHaveLength(301);
    },
  );

  test('are reported by the first failed call of a wave', async () => {
    const forum = new ScriptedForum({
      [PAGE]: rawThread([
        rawComment('a', 't3_p0st', { score: 2 }, [rawMore('t1_a', [])]),
        rawComment('b', 't3_p0st', {}, [rawMore('t1_b', [])]),
      ]),
      '/comments/p0st/_/a': new UpstreamError('busy', 'no'),
      '/comments/p0st/_/b': new UpstreamError('timeout', 'no'),
    });
    const read = await readThread(forum.request(9));
    expect(read).toMatchObject({ complete: false, failure: { failure: 'busy' }, calls: 3 });
    expect(read.loaded.stubs).toHaveLength(2);
  });

  test('other than UpstreamError, and aborts, are thrown', async () => {
    await expect(readThread(failing(new TypeError('a mistake of ours')).request(1_000))).rejects.toThrow('of ours');
    const abort = new DOMException('gone', 'AbortError');
    await expect(readThread(failing(abort).request(1_000))).rejects.toBe(abort);
  });

  test('a passed deadline ends loading without a call', async () => {
    const forum = failing(new Error('unused'));
    const clock = () => NOW + 8_000 * Math.min(1, forum.asked.length);
    const read = await readThread({ ...forum.request(50), clock });
    expect(read).toMatchObject({ complete: false, failure: { failure: 'timeout' }, calls: 1 });
    expect(forum.asked).toEqual([PAGE]);
  });

  test('every call gets the remaining time', async () => {
    const forum = failing(new Error('unused'));
    const clock = () => NOW + 1_000 * forum.asked.length;
    await readThread({ ...forum.request(50), clock });
    expect(forum.calls.map(({ deadlineMs }) => deadlineMs)).toEqual([8_000, 7_000]);
  });
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

  test('makes no call when there are enough comments or no more', async () => {
    const forum = new ScriptedForum({});
    const loaded: LoadedComments = { comments: [commentOf('a', 't3_p0st')], stubs: [], missing: [] };
    expect(await expandComments(loaded, '', forum.request(9))).toMatchObject({ loaded, complete: true, calls: 0 });
    const open = { ...loaded, stubs: [{ parentId: 't1_a', childIds: ['b'] }] };
    expect(await expandComments(open, '', forum.request(1))).toMatchObject({ loaded: open, complete: true, calls: 0 });
  });
});
