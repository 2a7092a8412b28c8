import { normalizeSubreddit, subredditKey, validateTerms } from '../../../shared/matching/validate-rule.ts';
import type { Fault } from '../http/invalid-request.ts';

const MAX_SUBREDDITS = 50;

/** The lists of a rule as sent by a client; PATCH may omit any. */
export interface RuleLists {
  keywords?: string[] | undefined;
  exclude?: string[] | undefined;
  subreddits?: string[] | undefined;
}

/** The lists in the form that is stored, omitted where they were absent, and what is wrong with them. */
export function checkRule(given: RuleLists): { terms: RuleLists; faults: Fault[] } {
  const keywords = given.keywords && validateTerms('keywords', given.keywords);
  const exclude = given.exclude && validateTerms('exclude', given.exclude);
  const subreddits = given.subreddits && checkSubreddits(given.subreddits);
  return {
    terms: { keywords: keywords?.terms, exclude: exclude?.terms, subreddits: subreddits?.names },
    faults: [keywords, exclude, subreddits].flatMap((checked) => checked?.faults ?? []),
  };
}

/** Community names without r/, each once, in the spelling that came first. */
function checkSubreddits(given: readonly string[]): { names: string[]; faults: Fault[] } {
  if (given.length > MAX_SUBREDDITS) {
    return { names: [], faults: [{ field: 'subreddits', message: `must have at most ${MAX_SUBREDDITS} names` }] };
  }
  const names = new Map<string, string>();
  const faults: Fault[] = [];
  given.forEach((written, position) => {
    const name = normalizeSubreddit(written);
    if (name === undefined) {
      faults.push({ field: `subreddits[${position}]`, message: 'must be the name of a community, with or without r/' });
    } else if (!names.has(subredditKey(name))) names.set(subredditKey(name), name);
  });
  return { names: [...names.values()], faults };
}
