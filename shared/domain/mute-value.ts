import type { MuteKind } from '../../schemas/api/monitor-mutes.ts';
import { authorKey, normalizeAuthor } from '../matching/validate-refinements.ts';
import { normalizeSubreddit, subredditKey } from '../matching/validate-rule.ts';
import { parseReference } from './forum-reference.ts';
import type { ForumHosts } from './forum-reference.ts';

/**
 * What a mute names, in the form in which it is stored and compared: the name of a community or account in lower case,
 * or the id of a post with t3_. undefined when the text does not name one. A share link does not: only the forum knows
 * its post.
 */
export function muteValue(kind: MuteKind, given: string, hosts: ForumHosts): string | undefined {
  if (kind === 'subreddit') return keyOf(normalizeSubreddit(given), subredditKey);
  if (kind === 'author') return keyOf(normalizeAuthor(given), authorKey);
  const reference = parseReference(given, hosts);
  if (reference === undefined || reference.kind === 'share' || reference.postId === undefined) return undefined;
  return `t3_${reference.postId}`;
}

function keyOf(name: string | undefined, key: (name: string) => string): string | undefined {
  return name === undefined ? undefined : key(name);
}
