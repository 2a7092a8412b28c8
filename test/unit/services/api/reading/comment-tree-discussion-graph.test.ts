import { describe, expect, test } from 'vitest';
import { discussionGraph } from '../../../../../schemas/messages/forum-post.ts';
import type { Comment } from '../../../../../schemas/messages/forum-post.ts';
import { buildDiscussionGraph } from '../../../../../services/api/reading/comment-tree.ts';
import { commentOf } from '../../../../support/samples/forum-threads.ts';

const POST = { id: 'p0st', title: 'Which kettle', author: 'Kettle_Fan' };
const top = (id: string, fields: Partial<Comment> = {}) => commentOf(id, 't3_p0st', fields);
const graphOf = (comments: Comment[], post = POST) => discussionGraph.parse(buildDiscussionGraph(post, comments));
const ids = (comments: readonly Comment[]) => comments.map(({ id }) => id).join(' ');

describe('buildDiscussionGraph', () => {
  test('does not match deleted accounts with a deleted original poster', () => {
    const gone = { author: '[deleted]' };
    const graph = graphOf([top('a', gone), top('b', { ...gone, is_submitter: true })], {
      ...POST,
      author: '[deleted]',
    });
    expect([ids(graph.author_followups), ids(graph.most_upvoted)]).toEqual(['b', 'a']);
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
});
