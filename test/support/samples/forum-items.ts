import type { ForumItem } from '../../../schemas/messages/forum-item.ts';

/** A comment or, with a t3_ id, a post. It mentions rust, was just created and seen, and is not NSFW. */
export function forumItemOf(thingId: string, more: Partial<ForumItem> = {}): ForumItem {
  const now = new Date().toISOString();
  const isPost = thingId.startsWith('t3_');
  return {
    v: 1,
    thing_id: thingId,
    kind: isPost ? 'post' : 'comment',
    post_id: isPost ? thingId.slice(3) : 'parent',
    parent_id: isPost ? null : 't3_parent',
    subreddit: 'metals',
    author: 'smith',
    title: 'On rust',
    body: 'Iron, water and air make rust.',
    permalink: `https://forum.example/r/metals/${thingId}`,
    nsfw: false,
    created_utc: now,
    source: 'listings',
    replay: false,
    first_seen_at: now,
    score: 1,
    num_comments: isPost ? 0 : null,
    url: isPost ? `https://forum.example/r/metals/${thingId}` : null,
    ...more,
  };
}

/** Comment number `number` with this text. */
export function commentItem(number: number, body: string): ForumItem {
  const about = { subreddit: 'test', author: 'somebody', title: 'a post' };
  return forumItemOf(`t1_${number.toString(36)}`, { ...about, body });
}
