import type { MatchItem } from '../../../shared/matching/rule.ts';
import { naiveSearch } from '../../support/oracles/naive-matcher.ts';
import { fold } from '../../support/oracles/reference-fold.ts';
import type { BenchMonitor } from '../shared/matcher-monitors.ts';

/** The keywords of a monitor that an item has. */
export interface Pair {
  item: number;
  monitorId: string;
  matchedTerms: string[];
}

/**
 * The matches of the monitors among the items, which have the keys of `items` as numbers, by the second implementation
 * of the rules that the tests also use. The keywords must consist of plain ASCII words.
 */
export function naivePairs(monitors: Iterable<BenchMonitor>, items: ReadonlyMap<number, MatchItem>): Pair[] {
  const ofAllItems = new Set([...items.values()].flatMap(searchedTexts).flatMap(runsOf));
  const byFirstWord = new Map<string, { monitor: BenchMonitor; keyword: string; words: string[] }[]>();
  for (const monitor of monitors) {
    for (const keyword of monitor.rule.keywords) {
      const words = runsOf(keyword);
      // Most keywords occur in no text; they would fill the memory.
      if (!words.every((word) => ofAllItems.has(word))) continue;
      const others = byFirstWord.get(words[0]!);
      if (others) others.push({ monitor, keyword, words });
      else byFirstWord.set(words[0]!, [{ monitor, keyword, words }]);
    }
  }
  const pairs: Pair[] = [];
  for (const [number, item] of items) {
    const texts = searchedTexts(item);
    const runs = new Set(texts.flatMap(runsOf));
    const found = new Map<BenchMonitor, Set<string>>();
    for (const run of runs) {
      for (const { monitor, keyword, words } of byFirstWord.get(run) ?? []) {
        // The search is slow, so it skips what cannot be found.
        if (!words.every((word) => runs.has(word)) || !isIn(keyword, texts)) continue;
        found.set(monitor, (found.get(monitor) ?? new Set()).add(keyword));
      }
    }
    for (const [{ id, rule }, keywords] of found) {
      if (!watches(rule, item) || rule.exclude.some((term) => isIn(term, texts))) continue;
      pairs.push({ item: number, monitorId: id, matchedTerms: rule.keywords.filter((term) => keywords.has(term)) });
    }
  }
  return pairs;
}

function runsOf(text: string): string[] {
  return text.match(/[a-z0-9]+/g) ?? [];
}

function searchedTexts({ kind, title, text }: MatchItem): string[] {
  const body = text.trim() === '[deleted]' || text.trim() === '[removed]' ? '' : text;
  return (kind === 'post' ? [title, body] : [body]).map(fold);
}

const searches = new Map<string, (text: string) => boolean>();

function isIn(keyword: string, texts: string[]): boolean {
  let search = searches.get(keyword);
  if (!search) searches.set(keyword, (search = naiveSearch(keyword)));
  return texts.some(search);
}

function watches(rule: BenchMonitor['rule'], item: MatchItem): boolean {
  if (item.nsfw && !rule.nsfw) return false;
  if (item.kind === 'post' ? !rule.posts : !rule.comments) return false;
  const names = rule.subreddits.map((name) => name.toLowerCase());
  return names.length === 0 || names.includes(item.subreddit.toLowerCase());
}
