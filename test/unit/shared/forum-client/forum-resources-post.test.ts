import * as samples from '../../../support/samples/upstream-samples.ts';
import { expect, test } from 'vitest';
import { post as apiPost } from '../../../../schemas/messages/forum-post.ts';
import { parseAnswer } from '../../../../shared/forum-client/parse-things.ts';
import { mediaOf, pollOf, postSchema, toPost } from '../../../../shared/forum-client/forum-resources.ts';

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

const mediaIn = (data: object) => mediaOf(parseAnswer(postSchema, data));

test('returns the pictures of a gallery in order, without failed ones', () => {
  expect(mediaIn(samples.GALLERY)).toEqual([
    {
      type: 'gallery',
      url: 'https://i.example/b.gif',
      width: 10,
      height: 20,
      caption: 'second in the map, first in the order',
    },
    { type: 'gallery', url: 'https://i.example/a.jpg', width: 640, height: 480, caption: '' },
  ]);
  expect(mediaIn({ ...samples.GALLERY, gallery_data: null, media_metadata: null })).toEqual([]);
});

test('returns the image or video of a post, or of the post that it crossposts', () => {
  const video = { type: 'video', url: 'https://v.example/1/720', width: 1280, height: 720, caption: '' };
  expect(mediaIn(samples.IMAGE)).toEqual([
    { type: 'image', url: 'https://i.redd.it/x.jpeg', width: 300, height: 200, caption: '' },
  ]);
  expect(mediaIn({ ...samples.IMAGE, post_hint: 'link' })).toEqual([]);
  expect(mediaIn({ ...samples.IMAGE, post_hint: undefined, preview: undefined })).toEqual([
    { type: 'image', url: 'https://i.redd.it/x.jpeg', width: 0, height: 0, caption: '' },
  ]);
  expect(mediaIn(samples.VIDEO)).toEqual([video]);
  expect(mediaIn({ ...samples.VIDEO, media: null, secure_media: null })).toEqual([
    { ...video, url: 'https://v.redd.it/1', width: 0, height: 0 },
  ]);
  expect(mediaIn(samples.CROSSPOST)).toEqual([video]);
});

test.each([
  [1_790_000_499_999, false],
  [1_790_000_500_000, true],
])('a poll at %i has is_closed %s, and hidden vote counts are 0', (now, isClosed) => {
  expect(pollOf(parseAnswer(postSchema, samples.POLL), now)).toEqual({
    total_votes: 7,
    is_closed: isClosed,
    options: [
      { id: '1', text: 'Yes', vote_count: 3 },
      { id: '2', text: 'No', vote_count: 0 },
    ],
  });
});
