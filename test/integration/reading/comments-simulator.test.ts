import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Comment } from '../../../schemas/messages/forum-post.ts';
import { buildCommentTree, inPageOrder } from '../../../services/api/reading/comment-tree.ts';
import { expandComments, readThread } from '../../../services/api/reading/expand-comments.ts';
import type { ExpandRequest } from '../../../services/api/reading/expand-comments.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';

/** The first post of the simulator has more than 2,000 comments. */
const HUGE = 0;
const DEPTH_OF_A_PAGE = 10;

let forum: TestForum;

beforeAll(async () => {
  forum = await startTestForum();
});

afterAll(() => forum.stop());

function request(post: number, max: number): ExpandRequest {
  const { clock, upstream } = forum.forum;
  const { timeline, catalog } = forum.simulator.world;
  const postId = timeline.idOf(catalog.postNumbered(post).k);
  return { upstream, clock, postId, max, deadlineAt: clock() + 8_000, call: { lane: 'reading' } };
}

/** Fullnames of all visible comments and their parents, as the simulator has them. */
function visible(post: number): Map<string, string> {
  const { timeline, threads } = forum.simulator.world;
  const shown = threads.commentsOf(post).filter((k) => timeline.visibleAt(k) <= forum.simulator.clock);
  return new Map(shown.map((k) => [timeline.nameOf(k), timeline.nameOf(threads.parentOf(k))]));
}

/** A post whose thread is deeper than one response of the forum. */
function deepPost(): { post: number; deepest: string; depth: number } {
  for (let post = 1; post < 3_000; post++) {
    const parents = visible(post);
    for (const name of parents.keys()) {
      let depth = -1;
      for (let at: string | undefined = name; at !== undefined; at = parents.get(at)) if (at.startsWith('t1_')) depth++;
      if (depth > DEPTH_OF_A_PAGE + 2) return { post, deepest: name.slice(3), depth };
    }
  }
  throw new Error('the simulator has no deep thread');
}

const pairs = (comments: readonly Comment[]) =>
  new Map(comments.map(({ id, parent_id: parent }) => [`t1_${id}`, parent]));
const sorted = (map: ReadonlyMap<string, string>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

describe('a thread of the simulator', () => {
  test('with more than 2,000 comments is read completely, each below its parent', async () => {
    const wanted = visible(HUGE);
    expect(wanted.size).toBeGreaterThan(2_000);
    // The forum refuses a second call of one client for children while the first one is under way.
    await forum.fault({ kind: 'slow', path: '/api/morechildren', delay_ms: 5 });
    const read = await readThread(request(HUGE, 100_000));
    await forum.calm();
    expect(read).toMatchObject({ complete: true, loaded: { stubs: [], missing: [] } });
    expect(sorted(pairs(read.loaded.comments))).toEqual(sorted(wanted));
    const tree = buildCommentTree(read.loaded, 2_000);
    expect([tree.returned, tree.hasMore]).toEqual([2_000, true]);
    for (const comment of inPageOrder(buildCommentTree(read.loaded, Infinity).comments)) {
      for (const reply of comment.replies) expect(reply.parent_id).toBe(`t1_${comment.id}`);
    }
  });

  test('deeper than one response is followed to its end', async () => {
    const { post, deepest, depth } = deepPost();
    const read = await readThread(request(post, 100_000));
    expect(sorted(pairs(read.loaded.comments))).toEqual(sorted(visible(post)));
    const all = inPageOrder(buildCommentTree(read.loaded, Infinity).comments);
    expect(all.find(({ id }) => id === deepest)?.depth).toBe(depth);
  });

  test('is read in part when the forum fails midway, and completely afterwards', async () => {
    await forum.fault({ kind: '429', count: 1, path: '/api/morechildren', retry_after: 5 });
    const part = await readThread(request(HUGE, 2_000));
    expect(part).toMatchObject({ complete: false, failure: { failure: 'busy' } });
    expect(part.loaded.comments.length).toBeGreaterThanOrEqual(500);
    await forum.calm();
    const rest = await expandComments(part.loaded, part.post.author, request(HUGE, 100_000));
    expect(rest.complete).toBe(true);
    expect(sorted(pairs(rest.loaded.comments))).toEqual(sorted(visible(HUGE)));
  });
});
