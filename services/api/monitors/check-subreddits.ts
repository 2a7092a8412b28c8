import { normalizeSubreddit, subredditKey } from '../../../shared/matching/validate-rule.ts';
import type { Fault } from '../http/api-error.ts';

const MAX_SUBREDDITS = 50;

/** Community names without r/, each once, in the spelling that came first. */
export function checkSubreddits(
  field: 'subreddits' | 'exclude_subreddits',
  given: readonly string[],
): { names: string[]; faults: Fault[] } {
  if (given.length > MAX_SUBREDDITS) {
    return { names: [], faults: [{ field, message: `must have at most ${MAX_SUBREDDITS} names` }] };
  }
  const names = new Map<string, string>();
  const faults: Fault[] = [];
  given.forEach((written, position) => {
    const name = normalizeSubreddit(written);
    if (name === undefined) {
      faults.push({ field: `${field}[${position}]`, message: 'must be the name of a community, with or without r/' });
    } else if (!names.has(subredditKey(name))) names.set(subredditKey(name), name);
  });
  return { names: [...names.values()], faults };
}
