import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { discussionGraph } from '../../schemas/messages/forum-post.ts';
import type { Comment } from '../../schemas/messages/forum-post.ts';
import { buildCommentTree, buildDiscussionGraph, inPageOrder } from '../../services/api/reading/comment-tree.ts';
import { renderPostMarkdown } from '../../services/api/reading/rendered-posts.ts';
import { parseMoreChildren, parseThread } from '../../shared/forum-client/parse-comment-tree.ts';
import type { ParsedComments } from '../../shared/forum-client/parse-comment-tree.ts';
import { toPost } from '../../shared/forum-client/forum-resources.ts';
import { expectedStructure, markdownStructure, outlineOf } from '../support/oracles/markdown-structure.ts';
import { nodesOf, readRecordedResponses, RECORDED } from '../support/samples/recorded-responses.ts';
import type { RecordedResponse } from '../support/samples/recorded-responses.ts';

const CONTEXT = { siteUrl: 'https://forum.example', now: Date.UTC(2026, 0, 1) };

interface RawComment {
  id: string;
  parent_id: string;
  body: string;
  score: number;
  children: string[];
}

/** The contents of the recorded response, found without the parser. */
function rawNodes(body: unknown, kind: string): RawComment[] {
  return [...nodesOf(body, '')].filter((node) => node.kind === kind).map(({ data }) => data as RawComment);
}

describe.skipIf(!existsSync(RECORDED))(`recorded threads (${RECORDED}, skipped where it does not exist)`, () => {
  let threads: RecordedResponse[];
  let answers: RecordedResponse[];

  beforeAll(async () => {
    const good = (await readRecordedResponses()).filter(({ status }) => status === 200);
    threads = good.filter(({ uri, body }) => /\/comments\/\w/.test(new URL(uri).pathname) && Array.isArray(body));
    answers = good.filter(({ uri }) => uri.includes('/api/morechildren'));
  }, 120_000);

  function check(found: ParsedComments, body: unknown): Comment[] {
    const raw = new Map(rawNodes(body, 't1').map((data) => [data.id, data]));
    const stubs = rawNodes(body, 'more');
    const tree = buildCommentTree({ comments: found.comments, stubs: found.stubs, missing: [] }, Infinity);
    const all = inPageOrder(tree.comments);
    expect(all.map(({ id }) => id).sort()).toEqual([...raw.keys()].sort());
    expect(tree.returned).toBe(raw.size);
    expect(tree.hasMore).toBe(stubs.length > 0);
    expect(found.stubs.map(({ parentId, childIds }) => [parentId, childIds])).toEqual(
      stubs.map(({ parent_id: parent, children }) => [parent, children]),
    );
    expect(found.unknownKinds.size).toBe(0);
    for (const { id, parent_id: parent, body: text, score, depth, replies } of all) {
      const data = raw.get(id);
      expect([parent, text, score]).toEqual([data?.parent_id, data?.body, data?.score]);
      if (!raw.has(parent.slice(3))) expect(depth).toBe(0);
      for (const reply of replies) expect([reply.parent_id, reply.depth]).toEqual([`t1_${id}`, depth + 1]);
    }
    return tree.comments;
  }

  test('contain every comment in their tree once, below its parent', () => {
    let comments = 0;
    for (const { body } of threads) {
      const found = parseThread(body);
      check(found, body);
      comments += found.comments.length;
    }
    expect(threads.length).toBeGreaterThan(100);
    expect(comments).toBeGreaterThan(3_000);
    console.log(`${threads.length} threads with ${comments} comments`);
  }, 120_000);

  test('continue in responses of morechildren', () => {
    let comments = 0;
    for (const { body } of answers) {
      const found = parseMoreChildren(body, '');
      check(found, body);
      comments += found.comments.length;
    }
    expect(answers.length).toBeGreaterThan(300);
    expect(comments).toBeGreaterThan(500);
    console.log(`${answers.length} answers of morechildren with ${comments} comments`);
  }, 120_000);

  test('render as documents with only our own structure, and as graphs', () => {
    for (const { body } of threads) {
      const found = parseThread(body);
      const tree = buildCommentTree({ ...found, missing: [] }, 2_000);
      const post = { ...toPost(found.post, CONTEXT), comments: tree.comments };
      discussionGraph.parse(buildDiscussionGraph(post, tree.comments));
      const meta = { comments_returned: tree.returned, comments_total: post.num_comments, has_more: tree.hasMore };
      const structure = markdownStructure(renderPostMarkdown(post, meta));
      expect(structure.foreign).toEqual([]);
      expect(outlineOf(structure)).toEqual(expectedStructure(post));
    }
  }, 120_000);
});
