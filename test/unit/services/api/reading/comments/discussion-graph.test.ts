import { describe, expect, test } from 'vitest';
import { discussionGraph } from '../../../../../../schemas/messages/forum-post.ts';
import type { Comment } from '../../../../../../schemas/messages/forum-post.ts';
import { buildDiscussionGraph } from '../../../../../../services/api/reading/comments/discussion-graph.ts';
import { commentOf } from '../../../../../support/samples/forum-threads.ts';

const POST = { id: 'p0st', title: 'Which kettle', author: 'Kettle_Fan' };
const top = (id: string, fields: Partial<Comment> = {}) => commentOf(id, 't3_p0st', fields);
const graphOf = (comments: Comment[], post = POST) => discussionGraph.parse(buildDiscussionGraph(post, comments));
const ids = (comments: readonly Comment[]) => comments.map(({ id }) => id).join(' ');

describe('buildDiscussionGraph', () => {
  test('returns empty lists for no comments', () => {
    expect(graphOf([])).toEqual({
      post_id: 'p0st',
      title: 'Which kettle',
      author: 'Kettle_Fan',
      author_followups: [],
      most_upvoted: [],
      controversial: [],
      total_analyzed: 0,
    });
  });

  test('counts comments of all levels and lists them without replies', () => {
    const graph = graphOf([
      top('a', {
        score: 3,
        replies: [commentOf('b', 't1_a', { depth: 1, score: 5, replies: [commentOf('c', 't1_b')] })],
      }),
      top('d', { score: 4 }),
    ]);
    expect(graph.total_analyzed).toBe(4);
    expect(ids(graph.most_upvoted)).toBe('b d a c');
    expect(graph.most_upvoted[0]).toMatchObject({ parent_id: 't1_a', depth: 1 });
    expect(graph.most_upvoted.every(({ replies }) => replies.length === 0)).toBe(true);
  });

  test('lists all comments of the original poster in page order, and in no other list', () => {
    const own = { author: 'kettle_fan', score: -9, controversy: 1 };
    const graph = graphOf([
      top('a', { replies: [commentOf('b', 't1_a', own)] }),
      top('c', { is_submitter: true, author: 'renamed', score: 99 }),
      top('d', own),
    ]);
    expect(ids(graph.author_followups)).toBe('b c d');
    expect(ids(graph.most_upvoted)).toBe('a');
    expect(graph.controversial).toEqual([]);
  });

  test('does not match deleted accounts with a deleted original poster', () => {
    const gone = { author: '[deleted]' };
    const graph = graphOf([top('a', gone), top('b', { ...gone, is_submitter: true })], {
      ...POST,
      author: '[deleted]',
    });
    expect([ids(graph.author_followups), ids(graph.most_upvoted)]).toEqual(['b', 'a']);
  });

  test('lists the 10 highest scores, ties in page order', () => {
    const comments = Array.from({ length: 14 }, (_, index) =>
      top(`c${index}`, { score: index === 12 ? 8 : index % 2 }),
    );
    expect(ids(graphOf(comments).most_upvoted)).toBe('c12 c1 c3 c5 c7 c9 c11 c13 c0 c2');
  });

  test('leaves the automatic moderator and deleted comments out of the highest scores', () => {
    const comments = [
      top('a', { author: 'AutoModerator', score: 9 }),
      top('b', { author: 'automoderator', score: 9 }),
      top('c', { author: '[deleted]', body: '[deleted]', score: 9 }),
      top('d', { author: '[deleted]', body: '[removed]', score: 9 }),
      top('e', { body: '[ Removed by Reddit ]', score: 9 }),
      top('f', { author: '[deleted]', body: 'The account is gone, the text is not.' }),
    ];
    expect(ids(graphOf(comments).most_upvoted)).toBe('f');
  });

  test('lists flagged and negative comments, the most negative first', () => {
    const comments = [
      top('a', { score: 0 }),
      top('b', { score: -1 }),
      top('c', { score: -20 }),
      top('d', { score: 7, controversy: 1 }),
      top('e', { score: -1, controversy: 1 }),
      top('f', { score: -1 }),
    ];
    expect(ids(graphOf(comments).controversial)).toBe('c e b f d');
  });

  test('lists every controversial comment', () => {
    const comments = Array.from({ length: 400 }, (_, index) => top(`c${index}`, { score: index - 400 }));
    const { controversial } = graphOf(comments);
    expect([controversial.length, controversial[0]?.id, controversial[399]?.id]).toEqual([400, 'c0', 'c399']);
  });

  test('does not modify the tree', () => {
    const comments = [top('a', { score: 1, replies: [commentOf('b', 't1_a', { score: 2 })] }), top('c', { score: 3 })];
    const before = structuredClone(comments);
    graphOf(comments);
    expect(comments).toEqual(before);
  });
});
