import type { ItemContent } from '../../../schemas/messages/forum-item.ts';

/**
 * Returns the content of a thing that was deleted or removed on the forum, without author and text. Ids, kind,
 * subreddit and times stay. The title is blanked too, also of a comment, where it is the title of the post.
 */
export function blankedContent(item: ItemContent): ItemContent {
  return { ...item, author: '[deleted]', title: '', body: '' };
}
