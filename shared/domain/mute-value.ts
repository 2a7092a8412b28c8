import type { MuteKind } from '../../schemas/api/monitors/monitor-mutes.ts';
import { normalizeAuthor } from '../matching/validate-refinements.ts';
import { normalizeSubreddit } from '../matching/validate-rule.ts';
import { nameInAddress, parseReference } from './forum-reference.ts';
import type { ForumHosts } from './forum-reference.ts';

/**
 * What a mute names, in the form in which it is stored and compared: the name of a community or account in lower case,
 * or the id of a post with t3_. undefined when the text does not name one. A share link does not: only the forum knows
 * its post.
 */
export function muteValue(kind: MuteKind, given: string, hosts: ForumHosts): string | undefined {
  if (kind !== 'thread') return nameKey(kind, given) ?? nameKey(kind, nameInAddress(given, kind, hosts) ?? '');
  const reference = parseReference(given, hosts);
  if (reference === undefined || reference.kind === 'share' || reference.postId === undefined) return undefined;
  // An id is a number in base 36, which the forum writes without leading zeros.
  return `t3_${reference.postId.replace(/^0+(?=.)/, '')}`;
}

function nameKey(kind: 'subreddit' | 'author', given: string): string | undefined {
  const name = kind === 'subreddit' ? normalizeSubreddit(given) : normalizeAuthor(given);
  return name?.toLowerCase();
}
