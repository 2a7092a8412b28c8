import * as samples from '../../../support/samples/upstream-samples.ts';
import { expect, test } from 'vitest';
import { commentSchema, toCommentItem } from '../../../../shared/forum-client/forum-resources.ts';
import { parseAnswer } from '../../../../shared/forum-client/parse-things.ts';

const OPTIONS = { siteUrl: 'https://www.reddit.com', now: 1_790_000_500_000 };

test('maps every field of a comment', () => {
  expect(toCommentItem(parseAnswer(commentSchema, samples.COMMENT), OPTIONS)).toEqual({
    id: 'k1abcde',
    name: 't1_k1abcde',
    post_id: '1abcde',
    post_title: 'On rust',
    subreddit: 'metals',
    author: 'jones',
    body: 'Oil helps.',
    permalink: 'https://www.reddit.com/r/metals/comments/1abcde/on_rust/k1abcde/',
    parent_id: 't3_1abcde',
    score: 4,
    created_at: '2026-09-21T14:15:00.000Z',
    is_submitter: false,
    controversiality: 0,
  });
});

test.each([
  ['its own author', { link_author: 'jones' }, undefined, true],
  ['another author', { link_author: 'smith' }, undefined, false],
  ['a deleted author', { author: null, link_author: '[deleted]' }, undefined, false],
  ['a post that was looked up', {}, { title: 'On rust', author: 'jones' }, true],
  ['no author of the post', {}, undefined, false],
  ['its own is_submitter', { is_submitter: false, link_author: 'jones' }, undefined, false],
])('derives is_submitter from %s when the forum does not send it', (_, fields, post, expected) => {
  const data = { ...samples.COMMENT, is_submitter: undefined, link_author: undefined, ...fields };
  expect(toCommentItem(parseAnswer(commentSchema, data), OPTIONS, post).is_submitter).toBe(expected);
});
