import { expect, test } from 'vitest';
import { post as apiPost } from '../../../../../schemas/messages/forum-post.ts';
import { parseAnswer } from '../../../../../shared/upstream/parsing/parse-page.ts';
import { postSchema } from '../../../../../shared/upstream/parsing/post-schema.ts';
import { toPost } from '../../../../../shared/upstream/parsing/to-post.ts';
import * as samples from '../../../../support/samples/upstream-samples.ts';

const OPTIONS = { siteUrl: 'https://www.reddit.com', now: 1_790_000_500_000 };

function postOf(data: object) {
  return apiPost.parse(toPost(parseAnswer(postSchema, data), OPTIONS));
}

test('maps a post to every documented field', () => {
  expect(postOf(samples.POST)).toEqual({
    id: '1abcde',
    name: 't3_1abcde',
    domain: 'self.metals',
    is_self: true,
    flair: 'Question',
    spoiler: false,
    stickied: false,
    locked: false,
    removed: false,
    subreddit: 'metals',
    title: 'On rust',
    author: 'smith',
    selftext: 'Iron, water and air.',
    score: 12,
    num_comments: 3,
    upvote_ratio: 0.93,
    url: 'https://www.reddit.com/r/metals/comments/1abcde/on_rust/',
    permalink: 'https://www.reddit.com/r/metals/comments/1abcde/on_rust/',
    created_at: '2026-09-21T14:13:20.000Z',
    is_video: false,
    over_18: false,
    media: [],
    poll: null,
    crosspost_of: null,
    comments: [],
  });
});

test('names the original of a crosspost, even when the original was deleted', () => {
  expect(postOf(samples.CROSSPOST).crosspost_of).toEqual({
    id: '1video',
    subreddit: 'metals',
    title: 'On rust',
    author: 'smith',
    permalink: 'https://www.reddit.com/r/metals/comments/1abcde/on_rust/',
  });
  expect(postOf({ ...samples.CROSSPOST, crosspost_parent_list: [] }).crosspost_of).toMatchObject({
    id: '1video',
    title: '',
  });
});

test.each([
  [{ removed_by_category: 'moderator' }, true],
  [{ removed_by_category: 'reddit' }, true],
  [{ removed_by_category: 'copyright_takedown' }, true],
  [{ removed_by_category: 'author' }, false],
  [{ removed_by_category: 'deleted' }, false],
  [{ removed_by_category: undefined, removed: true }, true],
  [{ removed_by_category: undefined, banned_by: 'a_moderator' }, true],
  [{ removed_by_category: undefined, banned_by: true }, true],
  [{ removed_by_category: undefined, banned_by: false }, false],
])('a post with %j has removed %s', (fields, removed) => {
  expect(postOf({ ...samples.POST, ...fields }).removed).toBe(removed);
});
