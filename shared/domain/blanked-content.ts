import type { ItemContent } from '../../schemas/messages/forum-item.ts';

/**
 * The content of a thing that was deleted or removed on the forum: who wrote it and what it said are gone; what it was
 * and where it stood stays. For a comment the title, which is its post's, goes too.
 */
export function blankedContent(item: ItemContent): ItemContent {
  return { ...item, author: '[deleted]', title: '', body: '' };
}
