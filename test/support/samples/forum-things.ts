/** A post as a listing sends it. */
export const POST = {
  id: '1q2w3e',
  name: 't3_1q2w3e',
  author: 'kettle_fan',
  subreddit: 'tea',
  created_utc: 1767225600.0,
  title: 'Which kettle',
  selftext: 'Any < 2 litres?',
  over_18: true,
  permalink: '/r/tea/comments/1q2w3e/which_kettle/',
  url: 'https://forum.example/r/tea/comments/1q2w3e/which_kettle/',
  is_self: true,
  score: 12,
  num_comments: 3,
  media_metadata: null,
};
/** A comment of POST, as a listing sends it. */
export const COMMENT = {
  id: 'zzzzzzzzzzzz9',
  author: 'leaf',
  subreddit: 'tea',
  created_utc: 1767225660.0,
  body: 'The small one.',
  parent_id: 't1_abc',
  link_id: 't3_1q2w3e',
  link_title: 'Which kettle',
  over_18: false,
  permalink: '/r/tea/comments/1q2w3e/which_kettle/zzzzzzzzzzzz9/',
  score: 1,
  edited: 1767225700.0,
  replies: '',
};
