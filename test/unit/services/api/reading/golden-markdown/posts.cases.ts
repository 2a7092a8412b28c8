import type { Comment, Post } from '../../../../../../schemas/messages/forum-post.ts';
import type { MarkdownMeta } from '../../../../../../services/api/reading/rendered-posts.ts';
import { commentOf, postOf } from '../../../../../support/samples/forum-threads.ts';

/** A post of every form, with the name of the file that contains its document. */
export interface GoldenCase {
  name: string;
  post: Post;
  meta: MarkdownMeta;
}

const TEA = 'https://forum.example/r/tea/comments';
const top = (id: string, fields: Partial<Comment> = {}): Comment => commentOf(id, 't3_p0st', { score: 12, ...fields });
const meta = (returned: number, total: number, hasMore = false): MarkdownMeta => ({
  comments_returned: returned,
  comments_total: total,
  has_more: hasMore,
});

export const GOLDEN_CASES: GoldenCase[] = [
  {
    name: 'text-post',
    post: postOf({
      num_comments: 512,
      flair: 'Question',
      selftext: 'Any *below* 2 litres?\n\nI have [this one](https://shop.example/k1).\n\n> It leaks\n> a bit.',
      comments: [
        top('k3xa', {
          author: 'leaf',
          body: 'The small one.\n\n```sh\nkettle --boil \\\n  --litres 1.5\n```\n\nLess is more.',
          replies: [
            commentOf('k3xb', 't1_k3xa', {
              depth: 1,
              author: 'kettle_fan',
              is_submitter: true,
              body: 'Thanks!',
              score: 1,
            }),
          ],
        }),
        top('k3xc', { author: '_samovar_', score: -3, body: 'First line\nsecond line' }),
      ],
    }),
    meta: meta(3, 512, true),
  },
  {
    name: 'poll',
    post: postOf({
      locked: true,
      spoiler: true,
      over_18: true,
      removed: true,
      upvote_ratio: 0.5,
      score: 1,
      poll: {
        total_votes: 912,
        is_closed: true,
        options: [
          { id: '1', text: 'Green', vote_count: 911 },
          { id: '2', text: '- # Black', vote_count: 1 },
        ],
      },
    }),
    meta: meta(0, 0),
  },
  {
    name: 'crosspost',
    post: postOf({
      is_self: false,
      selftext: '',
      url: `${TEA}/0ld/first/`,
      media: [
        {
          type: 'gallery',
          url: 'https://i.forum.example/one.jpg?a=1&b=2',
          width: 9,
          height: 8,
          caption: 'The *first* one',
        },
        { type: 'gallery', url: 'https://i.forum.example/two.jpg', width: 0, height: 0, caption: '' },
        { type: 'video', url: 'https://v.forum.example/x1/720.mp4', width: 1280, height: 720, caption: '' },
      ],
      crosspost_of: {
        id: '0ld',
        subreddit: 'kettles',
        title: 'The [first] one',
        author: 'steam_',
        permalink: `${TEA}/0ld/first/`,
      },
    }),
    meta: meta(0, 0),
  },
  {
    name: 'deleted',
    post: postOf({
      author: '[deleted]',
      title: '[deleted by user]',
      selftext: '[removed]',
      removed: true,
      comments: [
        top('a', {
          author: '[deleted]',
          body: '[deleted]',
          replies: [commentOf('b', 't1_a', { depth: 1, body: 'Who was that?' })],
        }),
        top('c', { author: '[deleted]', body: '[removed]' }),
        top('d', { author: '[deleted]', body: 'Only the account is gone.' }),
        top('e', { body: '' }),
      ],
    }),
    meta: meta(5, 5),
  },
  {
    name: 'around-a-comment',
    post: postOf({ comments: [commentOf('f', 't1_above', { replies: [commentOf('g', 't1_f', { depth: 1 })] })] }),
    meta: { ...meta(2, 45, true), focus_comment_id: 'f' },
  },
];
