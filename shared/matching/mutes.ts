import type { MatchItem, Mute } from './rule.ts';
import { authorKey } from './validate-refinements.ts';
import { subredditKey } from './validate-rule.ts';

/** The first of the mutes that applies to the item. Names are compared without prefix and case. */
export function muteOf(mutes: readonly Mute[], item: MatchItem): Mute | undefined {
  return mutes.find(({ kind, value }) => {
    if (kind === 'subreddit') return subredditKey(value) === subredditKey(item.subreddit);
    if (kind === 'author') return item.author !== undefined && authorKey(value) === authorKey(item.author);
    return item.postId !== undefined && threadKey(value) === threadKey(item.postId);
  });
}

/** The id of a post in the form in which it is compared: without `t3_`, in lower case. */
function threadKey(id: string): string {
  return id.trim().toLowerCase().replace(/^t3_/, '');
}
