import type { Comment, DiscussionGraph, Post, PostMeta } from '../../../../schemas/messages/forum-post.ts';
import type {
  CommentItem,
  CommentListing,
  ForumUser,
  PostListing,
  Subreddit,
  SubredditListing,
  ThingsResponse,
  UserListing,
} from '../../../../schemas/api/reading.ts';
import { renderPostMarkdown } from '../../reading/rendered-posts.ts';

const SITE = 'https://www.reddit.com';

const answer: Comment = {
  id: 'k2c9xqa',
  parent_id: 't1_k2c8m1d',
  author: 'slow_drip',
  body: 'Coarser. If it takes less than four minutes it will taste sour.',
  score: 41,
  created_at: '2026-03-04T09:31:12.000Z',
  depth: 1,
  is_submitter: false,
  controversy: 0,
  replies: [],
};
const question: Comment = {
  id: 'k2c8m1d',
  parent_id: 't3_1b6xk0p',
  author: 'early_riser',
  body: 'I grind for about ten seconds. Is that **too fine**?',
  score: 17,
  created_at: '2026-03-04T09:12:40.000Z',
  depth: 0,
  is_submitter: true,
  controversy: 0,
  replies: [answer],
};

const postAlone: Post = {
  id: '1b6xk0p',
  name: 't3_1b6xk0p',
  domain: 'self.Coffee',
  is_self: true,
  flair: 'Question',
  spoiler: false,
  stickied: false,
  locked: false,
  removed: false,
  subreddit: 'Coffee',
  title: 'How fine do you grind for a French press?',
  author: 'early_riser',
  selftext: 'My cup is bitter whatever I do.',
  score: 128,
  num_comments: 2,
  upvote_ratio: 0.97,
  url: `${SITE}/r/Coffee/comments/1b6xk0p/how_fine_do_you_grind_for_a_french_press/`,
  permalink: `${SITE}/r/Coffee/comments/1b6xk0p/how_fine_do_you_grind_for_a_french_press/`,
  created_at: '2026-03-04T08:55:03.000Z',
  is_video: false,
  over_18: false,
  media: [],
  poll: null,
  crosspost_of: null,
  comments: [],
};
const crosspost: Post = {
  ...postAlone,
  id: '1b71v3c',
  name: 't3_1b71v3c',
  subreddit: 'FrenchPress',
  domain: 'self.FrenchPress',
  title: 'Asked over there: how fine?',
  selftext: '',
  is_self: false,
  flair: '',
  score: 9,
  num_comments: 0,
  url: postAlone.permalink,
  permalink: `${SITE}/r/FrenchPress/comments/1b71v3c/asked_over_there_how_fine/`,
  crosspost_of: {
    id: postAlone.id,
    subreddit: postAlone.subreddit,
    title: postAlone.title,
    author: postAlone.author,
    permalink: postAlone.permalink,
  },
};

const graph: DiscussionGraph = {
  post_id: postAlone.id,
  title: postAlone.title,
  author: postAlone.author,
  author_followups: [{ ...question, replies: [] }],
  most_upvoted: [answer],
  controversial: [],
  total_analyzed: 2,
};
const meta: PostMeta = {
  comments_returned: 2,
  comments_total: 2,
  has_more: false,
  max_comments: 200,
  credits_used: 1,
  cache: 'MISS',
  limited_by_balance: false,
};

const commentItem: CommentItem = {
  id: answer.id,
  name: `t1_${answer.id}`,
  post_id: postAlone.id,
  post_title: postAlone.title,
  subreddit: 'Coffee',
  author: answer.author,
  body: answer.body,
  permalink: `${postAlone.permalink}${answer.id}/`,
  parent_id: answer.parent_id,
  score: answer.score,
  created_at: answer.created_at,
  is_submitter: false,
  controversiality: 0,
};
const community: Subreddit = {
  name: 'Coffee',
  title: 'All about coffee',
  public_description: 'Beans, brewing and the people who drink it.',
  description: '# Welcome\n\nRead the rules first.',
  url: `${SITE}/r/Coffee/`,
  icon: '',
  type: 'public',
  subscribers: 1_840_211,
  created_at: '2008-05-12T17:20:00.000Z',
  over_18: false,
  rules: [
    {
      kind: 'all',
      short_name: 'Be civil',
      description: 'Discuss the brew, not the person.',
      violation_reason: 'Uncivil',
      priority: 0,
      created_at: '2019-02-01T00:00:00.000Z',
    },
  ],
};
const user: ForumUser = {
  name: 'early_riser',
  created_at: '2015-07-19T06:30:00.000Z',
  link_karma: 512,
  comment_karma: 4_096,
  total_karma: 4_608,
  is_employee: false,
  is_mod: false,
  has_verified_email: true,
  suspended: false,
  icon: '',
};

const envelope = { query: null, after: null, filtered_nsfw: 0, degraded: false };
const postListing: PostListing = {
  subreddit: 'Coffee',
  ...envelope,
  sort: 'hot',
  count: 1,
  items: [postAlone],
  after: 't3_1b6xk0p',
};
const commentListing: CommentListing = {
  subreddit: 'Coffee',
  ...envelope,
  sort: 'new',
  count: 1,
  items: [commentItem],
};
const subredditListing: SubredditListing = {
  ...envelope,
  sort: 'popular',
  count: 1,
  items: [{ ...community, rules: [] }],
  after: 't5_2qhze',
};
const userListing: UserListing = { ...envelope, query: 'riser', sort: 'relevance', count: 1, items: [user] };
const things: ThingsResponse = {
  items: [
    { kind: 'post', post: postAlone },
    { kind: 'comment', comment: commentItem },
  ],
  missing: ['t3_zzzzzzz'],
};

/** Answers of the reading routes, invented. */
export const forumExamples = {
  post: { post: { ...postAlone, comments: [question] }, discussion_graph: graph, meta },
  graph: { discussion_graph: graph, meta },
  markdown: renderPostMarkdown({ ...postAlone, comments: [question] }, meta),
  duplicates: { ...postListing, subreddit: null, sort: 'num_comments', items: [crosspost], after: null },
  things,
  postListing,
  commentListing,
  community,
  subredditListing,
  user,
  userPosts: { ...postListing, subreddit: null, sort: 'new', after: null },
  userComments: { ...commentListing, subreddit: null },
  search: { ...postListing, query: 'french press', sort: 'relevance', after: null },
  searchSubreddits: { ...subredditListing, query: 'coffee', sort: 'relevance' },
  searchUsers: userListing,
  searchComments: { ...commentListing, query: 'sour "four minutes"', sort: 'relevance' },
};
