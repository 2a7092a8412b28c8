import type { MoreStub } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import { buildCommentTree, inPageOrder } from './comment-tree.ts';
import type { LoadedComments } from './comment-tree.ts';

/** The forum refuses a call with more ids. */
const CHILDREN_PER_CALL = 100;
export const CALLS_AT_ONCE = 4;

/** One call: for comments by their ids, or, without ids, for the replies of the parent. */
export type PlannedCall = MoreStub;

/**
 * Plans the next calls, at most four. Stubs of upper levels come first, within a level those below higher scores, then
 * in the order found. Ids of several stubs share a call. Another call is planned only while the calls before it may
 * return fewer than `need` comments, at one comment per id. The last call is filled up.
 */
export function planExpansion(loaded: LoadedComments, need: number): PlannedCall[] {
  const calls: { parentId: string; childIds: string[] }[] = [];
  const planned = new Set<string>();
  let expected = 0;
  let batch: string[] | undefined;
  const mayOpen = (): boolean => calls.length < CALLS_AT_ONCE && expected < need;
  for (const { parentId, childIds } of byPriority(loaded)) {
    if (childIds.length === 0) {
      if (!mayOpen()) continue;
      calls.push({ parentId, childIds: [] });
      expected++;
    }
    for (const id of childIds) {
      if (planned.has(id)) continue;
      if (batch === undefined || batch.length === CHILDREN_PER_CALL) {
        if (!mayOpen()) return calls;
        batch = [];
        calls.push({ parentId, childIds: batch });
      }
      planned.add(id);
      batch.push(id);
      expected++;
    }
  }
  return calls;
}

function byPriority(loaded: LoadedComments): MoreStub[] {
  const ranks = new Map<string, { level: number; score: number }>();
  for (const { id, depth, score } of inPageOrder(buildCommentTree(loaded, Infinity).comments)) {
    ranks.set(`t1_${id}`, { level: depth + 1, score });
  }
  const rankOf = ({ parentId }: MoreStub) =>
    ranks.get(parentId) ?? { level: parentId.startsWith('t3_') ? 0 : Number.MAX_SAFE_INTEGER, score: 0 };
  return loaded.stubs
    .map((stub) => ({ stub, rank: rankOf(stub) }))
    .sort((a, b) => a.rank.level - b.rank.level || b.rank.score - a.rank.score)
    .map(({ stub }) => stub);
}
