import type { Comment, Post } from '../../../schemas/messages/forum-post.ts';

/** Raw answers about threads, as the forum returns them. */
export interface RawThing {
  kind: string;
  data: Record<string, unknown>;
}

/** A comment with its replies. `parent` is a fullname. */
export function rawComment(id: string, parent: string, data: object = {}, replies: readonly RawThing[] = []): RawThing {
  const fields = {
    id,
    name: `t1_${id}`,
    parent_id: parent,
    link_id: 't3_p0st',
    author: 'leaf',
    subreddit: 'tea',
    body: `Text of ${id}`,
    score: 1,
    score_hidden: false,
    created_utc: 1767225660.0,
    edited: false,
    is_submitter: false,
    controversiality: 0,
    depth: 0,
    replies: replies.length > 0 ? rawListing(replies) : '',
  };
  return { kind: 't1', data: { ...fields, ...data } };
}

/** A stub for the named comments, or for deeper replies of the parent if there are none. */
export function rawMore(parent: string, ids: readonly string[], count = ids.length): RawThing {
  const id = ids[0] ?? '_';
  return { kind: 'more', data: { count, name: `t1_${id}`, id, parent_id: parent, depth: 1, children: ids } };
}

export function rawListing(children: readonly unknown[]): RawThing {
  return { kind: 'Listing', data: { after: null, before: null, dist: null, modhash: '', children } };
}

/** /comments/p0st */
export function rawThread(comments: readonly unknown[], post: object = {}): RawThing[] {
  const data = {
    id: 'p0st',
    name: 't3_p0st',
    author: 'kettle_fan',
    subreddit: 'tea',
    created_utc: 1767225600.0,
    title: 'Which kettle',
    selftext: '',
    over_18: false,
    permalink: '/r/tea/comments/p0st/which_kettle/',
    url: 'https://forum.example/r/tea/comments/p0st/which_kettle/',
    is_self: true,
    score: 12,
    num_comments: 3,
    ...post,
  };
  return [rawListing([{ kind: 't3', data }]), rawListing(comments)];
}

/** /api/morechildren */
export function rawMoreChildren(things: readonly unknown[]): object {
  return { json: { errors: [], data: { things } } };
}

/** A comment of the API; `parent` is a fullname. */
export function commentOf(id: string, parent: string, fields: Partial<Comment> = {}): Comment {
  return {
    id,
    parent_id: parent,
    author: 'leaf',
    body: `Text of ${id}`,
    score: 1,
    created_at: '2026-01-01T00:01:00.000Z',
    depth: 0,
    is_submitter: false,
    controversy: 0,
    replies: [],
    ...fields,
  };
}

/** A text post of the API. */
export function postOf(fields: Partial<Post> = {}): Post {
  return {
    id: 'p0st',
    name: 't3_p0st',
    domain: 'self.tea',
    is_self: true,
    flair: '',
    spoiler: false,
    stickied: false,
    locked: false,
    removed: false,
    subreddit: 'tea',
    title: 'Which kettle',
    author: 'kettle_fan',
    selftext: 'Any below 2 litres?',
    score: 123,
    num_comments: 45,
    upvote_ratio: 0.95,
    url: 'https://forum.example/r/tea/comments/p0st/which_kettle/',
    permalink: 'https://forum.example/r/tea/comments/p0st/which_kettle/',
    created_at: '2026-01-02T03:04:05.000Z',
    is_video: false,
    over_18: false,
    media: [],
    poll: null,
    crosspost_of: null,
    comments: [],
    ...fields,
  };
}

/** The shape of a tree: `a(b(c) d)`. */
export function shapeOf(comments: readonly Comment[]): string {
  return comments.map(({ id, replies }) => (replies.length > 0 ? `${id}(${shapeOf(replies)})` : id)).join(' ');
}
