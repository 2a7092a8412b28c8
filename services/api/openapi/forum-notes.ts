const listing = {
  query: 'The search query; null without one.',
  sort: 'The order of the items.',
  count: 'The number of items on this page.',
  after: 'Send it as `after` to get the next page; null on the last page.',
  filtered_nsfw: 'Items left out of this page because they are NSFW.',
  degraded: 'The forum could not be reached, and this is an older copy; or items that could not be read are left out.',
};
const within = { subreddit: 'The community of the request; null without one.' };

/** Notes on what the reading routes answer; see field-notes.ts. */
export const forumNotes: Record<string, Record<string, string>> = {
  Comment: {
    parent_id: 'The parent: `t3_…` for the post, or `t1_…` for a comment.',
    author: '`[deleted]` when the account or the comment was deleted.',
    body: 'Markdown; `[deleted]` or `[removed]` when it no longer exists.',
    depth: 'The depth; 0: a reply to the post.',
    is_submitter: 'Whether the author of the post wrote it.',
    controversy: '1: the forum marks it as controversial.',
  },
  Post: {
    id: 'Without `t3_`.',
    name: 'The fullname: `t3_` and the id.',
    flair: 'Empty without one.',
    removed: 'Removed by somebody other than its author.',
    selftext: 'Markdown; empty for a link.',
    upvote_ratio: '0 when the forum does not say.',
    media:
      'Pictures and videos. A gallery has one item of type `gallery` per picture, in order. Width and height are 0 when the forum does not say.',
    poll: 'null without a poll. While a poll is open the forum hides the counts, and they are 0.',
    crosspost_of: 'The post that this one crossposts; null without one.',
    comments: 'The tree of comments. Only `/v1/forum/post` fills it.',
  },
  DiscussionGraph: {
    author_followups: 'Comments by the author of the post. Comments in this graph have no replies.',
    most_upvoted:
      'The ten highest scores, without the author of the post, the automatic moderator and deleted comments.',
    controversial: 'Marked as controversial or with a negative score, without the author of the post.',
    total_analyzed: 'The number of comments that were considered.',
  },
  PostMeta: {
    comments_returned: 'Comments that were read, even if the format shows only some of them.',
    comments_total: "The forum's count, including deleted and hidden comments.",
    has_more: 'Whether a larger `max_comments` would return more.',
    cache: 'The value of the header `X-Cache-Tier`.',
    limited_by_balance: 'Whether the balance covered fewer comments than requested.',
    focus_comment_id: 'Only when a comment was requested.',
  },
  CommentItem: {
    post_title: 'Empty when it is not available.',
    author: '`[deleted]` when the account or the comment was deleted.',
    body: 'Markdown.',
    parent_id: 'The parent: `t3_…` for the post, or `t1_…` for a comment.',
    is_submitter: 'Whether the author of the post wrote it.',
    controversiality: '1: the forum marks it as controversial.',
  },
  SubredditRule: { kind: 'What it applies to: `link`, `comment` or `all`.' },
  Subreddit: {
    name: 'Without `r/`.',
    type: '`public`, `restricted`, `private`, `archived`, `user` …',
    rules: 'Empty in listings.',
  },
  User: { created_at: 'null when the forum does not say, for example for suspended accounts.' },
  Listing: { ...within, ...listing },
  CommentListing: { ...within, ...listing },
  SubredditListing: listing,
  UserListing: listing,
  ThingsResponse: {
    items: 'In the requested order.',
    missing: 'Requested items that do not exist, as written in the request.',
  },
};
