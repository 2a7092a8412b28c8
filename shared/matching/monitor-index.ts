import { fold } from './fold.ts';
import type { MatchItem, Rule } from './rule.ts';
import { compileTerm } from './term.ts';
import type { HeldTerm } from './term-trie.ts';
import { TermTrie } from './term-trie.ts';
import { splitUnits } from './units.ts';
import { subredditKey } from './validate-rule.ts';

export interface MonitorMatchResult<P = undefined> {
  monitorId: string;
  /** The keywords found, as the owner wrote them, in the monitor's order, each once. Never empty. */
  matchedTerms: string[];
  /** What was given to `set` with the rule that matched. */
  payload: P;
}

interface Monitor<P> {
  readonly id: string;
  readonly payload: P;
  readonly rule: Rule;
  /** Empty: every community. */
  readonly subreddits: ReadonlySet<string>;
  /** In the rule's order, each term once. */
  readonly keywords: readonly WrittenTerm<P>[];
  readonly exclude: readonly WrittenTerm<P>[];
}

interface WrittenTerm<P> {
  /** As the owner wrote it. */
  readonly written: string;
  readonly held: HeldTerm<Monitor<P>>;
}

/** What the upstream site puts in place of a text that is gone. */
const GONE = new Set(['[deleted]', '[removed]']);

function textsOf(item: MatchItem): string[] {
  const body = GONE.has(item.text.trim()) ? '' : item.text;
  return item.kind === 'post' ? [item.title, body] : [body];
}

function watches<P>(monitor: Monitor<P>, item: MatchItem, subreddit: string): boolean {
  const { rule, subreddits } = monitor;
  if (item.nsfw && !rule.nsfw) return false;
  if (!(item.kind === 'post' ? rule.posts : rule.comments)) return false;
  return subreddits.size === 0 || subreddits.has(subreddit);
}

/**
 * Any number of monitors, matched against one item at a time. The cost of an item grows with its length and with the monitors
 * that watch a term which occurs in it, not with the number of monitors. A change is in place and counts from the next
 * item on; it costs as much as the rule is long.
 */
export class MonitorIndex<P = undefined> {
  readonly #monitors = new Map<string, Monitor<P>>();
  readonly #terms = new TermTrie<Monitor<P>>();

  get size(): number {
    return this.#monitors.size;
  }

  /**
   * Adds a monitor, or replaces the one with this id. The rule must not be changed afterwards. Terms that hold nothing to search
   * for are ignored, and of terms that are equal after folding the first counts; `validateTerms` tells users of both.
   */
  set(id: string, rule: Rule, ...[payload]: undefined extends P ? [payload?: P] : [payload: P]): void {
    this.remove(id);
    const keywords = this.#hold(rule.keywords);
    const exclude = this.#hold(rule.exclude);
    const subreddits = new Set(rule.subreddits.map(subredditKey));
    const monitor: Monitor<P> = { id, payload: payload as P, rule, subreddits, keywords, exclude };
    for (const { held } of keywords) held.watchers.add(monitor);
    this.#monitors.set(id, monitor);
  }

  /** An unknown id is ignored. */
  remove(id: string): void {
    const monitor = this.#monitors.get(id);
    if (monitor === undefined) return;
    this.#monitors.delete(id);
    for (const { held } of monitor.keywords) {
      held.watchers.delete(monitor);
      this.#terms.release(held);
    }
    for (const { held } of monitor.exclude) this.#terms.release(held);
  }

  /** Every monitor that matches, in no particular order. Takes any UTF-16, lone surrogates too; never throws. */
  match(item: MatchItem): MonitorMatchResult<P>[] {
    const found = new Set<HeldTerm<Monitor<P>>>();
    for (const text of textsOf(item)) this.#terms.search(splitUnits(fold(text)), found);

    const subreddit = subredditKey(item.subreddit);
    const candidates = new Set<Monitor<P>>();
    for (const { watchers } of found) {
      for (const monitor of watchers) if (watches(monitor, item, subreddit)) candidates.add(monitor);
    }

    const results: MonitorMatchResult<P>[] = [];
    for (const { id, keywords, exclude, payload } of candidates) {
      if (exclude.some(({ held }) => found.has(held))) continue;
      const matchedTerms = keywords.filter(({ held }) => found.has(held)).map(({ written }) => written);
      results.push({ monitorId: id, matchedTerms, payload });
    }
    return results;
  }

  #hold(terms: readonly string[]): WrittenTerm<P>[] {
    const taken: WrittenTerm<P>[] = [];
    for (const written of terms) {
      const term = compileTerm(written);
      if (term === undefined) continue;
      const held = this.#terms.hold(term);
      if (taken.some((other) => other.held === held)) this.#terms.release(held);
      else taken.push({ written, held });
    }
    return taken;
  }
}
