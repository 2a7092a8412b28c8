import { describe, expect, test } from 'vitest';
import { post as postSchema } from '../../../../../schemas/messages/forum-post.ts';
import { parseAnswer } from '../../../../../shared/upstream/parsing/parse-page.ts';
import { readPost } from '../../../../../shared/upstream/parsing/post-schema.ts';
import { readComment, toCommentItem } from '../../../../../shared/upstream/parsing/to-comment-item.ts';
import { readUser, toForumUser } from '../../../../../shared/upstream/parsing/to-forum-user.ts';
import { toPost } from '../../../../../shared/upstream/parsing/to-post.ts';
import { readRules, readSubreddit, toRules, toSubreddit } from '../../../../../shared/upstream/parsing/to-subreddit.ts';
import * as samples from '../../../../support/samples/upstream-samples.ts';

const CONTEXT = { siteUrl: 'https://www.reddit.com', now: 1_790_000_500_000 };

function postOf(data: object) {
  return postSchema.parse(toPost(parseAnswer(readPost, data), CONTEXT));
}

describe('a post', () => {
  test('has every field of the specification', () => {
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

  test('has the pictures of its gallery in their order, without those that failed', () => {
    expect(postOf(samples.GALLERY).media).toEqual([
      {
        type: 'gallery',
        url: 'https://i.example/b.gif',
        width: 10,
        height: 20,
        caption: 'second in the map, first in the order',
      },
      { type: 'gallery', url: 'https://i.example/a.jpg', width: 640, height: 480, caption: '' },
    ]);
    expect(postOf({ ...samples.GALLERY, gallery_data: null, media_metadata: null }).media).toEqual([]);
  });

  test('has its image, its video, or those of the post that it repeats', () => {
    const video = { type: 'video', url: 'https://v.example/1/720', width: 1280, height: 720, caption: '' };
    expect(postOf(samples.IMAGE).media).toEqual([
      { type: 'image', url: 'https://i.redd.it/x.jpeg', width: 300, height: 200, caption: '' },
    ]);
    expect(postOf({ ...samples.IMAGE, post_hint: 'link' }).media).toEqual([]);
    expect(postOf({ ...samples.IMAGE, post_hint: undefined, preview: undefined }).media).toEqual([
      { type: 'image', url: 'https://i.redd.it/x.jpeg', width: 0, height: 0, caption: '' },
    ]);
    expect(postOf(samples.VIDEO).media).toEqual([video]);
    expect(postOf({ ...samples.VIDEO, media: null, secure_media: null }).media).toEqual([
      { ...video, url: 'https://v.redd.it/1', width: 0, height: 0 },
    ]);
    expect(postOf(samples.CROSSPOST).media).toEqual([video]);
  });

  test('names what it crossposts, also when that is gone', () => {
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
    [1_790_000_499_999, false],
    [1_790_000_500_000, true],
  ])('a poll at %i is closed: %s; votes that are hidden are 0', (now, isClosed) => {
    const mapped = toPost(parseAnswer(readPost, samples.POLL), { ...CONTEXT, now });
    expect(mapped.poll).toEqual({
      total_votes: 7,
      is_closed: isClosed,
      options: [
        { id: '1', text: 'Yes', vote_count: 3 },
        { id: '2', text: 'No', vote_count: 0 },
      ],
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
  ])('%j: removed is %s', (fields, removed) => {
    expect(postOf({ ...samples.POST, ...fields }).removed).toBe(removed);
  });

  test('takes what is missing in old and deleted ones', () => {
    const { upvote_ratio: _, link_flair_text: _flair, ...old } = samples.POST;
    expect(postOf({ ...old, author: null })).toMatchObject({ author: '[deleted]', upvote_ratio: 0, flair: '' });
  });

  test('a changed shape names its path, and nothing of the content', () => {
    expect(() => postOf({ ...samples.GALLERY, gallery_data: { items: [{ media_id: 5 }] } })).toThrow(
      /at "gallery_data\.items\.0\.media_id"/,
    );
  });
});

describe('other resources', () => {
  test('a comment', () => {
    expect(toCommentItem(parseAnswer(readComment, samples.COMMENT), CONTEXT)).toEqual({
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
    ['a post asked for', {}, { title: 'On rust', author: 'jones' }, true],
    ['nothing', {}, undefined, false],
    ['a word of its own', { is_submitter: false, link_author: 'jones' }, undefined, false],
  ])('a comment by the poster, where the forum does not say so, is known from %s', (_, fields, post, expected) => {
    const data = { ...samples.COMMENT, is_submitter: undefined, link_author: undefined, ...fields };
    expect(toCommentItem(parseAnswer(readComment, data), CONTEXT, post).is_submitter).toBe(expected);
  });

  test.each([undefined, null, ''])('a comment whose title of the post is %j takes it from the post', (link_title) => {
    const comment = parseAnswer(readComment, { ...samples.COMMENT, link_title });
    expect(toCommentItem(comment, CONTEXT, { title: 'On rust', author: 'a' }).post_title).toBe('On rust');
    expect(toCommentItem(comment, CONTEXT).post_title).toBe('');
  });

  test('a community with rules', () => {
    const rules = toRules(parseAnswer(readRules, samples.RULES));
    expect(toSubreddit(parseAnswer(readSubreddit, samples.SUBREDDIT), CONTEXT, rules)).toEqual({
      name: 'metals',
      title: 'Metals',
      public_description: 'All about metals',
      description: 'Long text',
      url: 'https://www.reddit.com/r/metals/',
      icon: 'https://styles.example/icon.png?width=256&s=1',
      type: 'public',
      subscribers: 1234,
      created_at: '2008-01-10T21:20:00.000Z',
      over_18: false,
      rules: [
        {
          kind: 'all',
          short_name: 'Be kind',
          description: 'Please',
          violation_reason: 'Unkind',
          priority: 0,
          created_at: '2011-03-13T07:06:40.000Z',
        },
        {
          kind: 'comment',
          short_name: 'No puns',
          description: '',
          violation_reason: 'A pun',
          priority: 1,
          created_at: '2011-03-13T07:06:40.000Z',
        },
      ],
    });
  });

  test('a user, and a suspended one', () => {
    expect(toForumUser(parseAnswer(readUser, samples.USER))).toEqual({
      name: 'smith',
      created_at: '2004-11-09T11:33:20.000Z',
      link_karma: 10,
      comment_karma: 20,
      total_karma: 33,
      is_employee: false,
      is_mod: true,
      has_verified_email: true,
      suspended: false,
      icon: 'https://styles.example/smith.png',
    });
    expect(toForumUser(parseAnswer(readUser, { name: 'sam', is_suspended: true }))).toMatchObject({
      suspended: true,
      created_at: null,
      total_karma: 0,
    });
  });
});
