import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';
import type { Report } from '../main.ts';
import type { Corpus } from '../shared/corpus.ts';
import { cutItems } from '../shared/matcher-items.ts';
import { denseMonitors } from '../shared/matcher-monitors.ts';
import type { BenchMonitor } from '../shared/matcher-monitors.ts';
import { oneOf, seededRandom } from '../shared/matcher-random.ts';
import type { Random } from '../shared/matcher-random.ts';
import { plainText, readVocabulary } from '../shared/matcher-vocabulary.ts';

const ITEMS = 4_000;
/** Both kinds of monitors are measured in turn, for this many items each. */
const SLICE = 500;
const CHANGED = 2_000;
const SHARES = { words: 0.5, phrases: 0.25 };
const REFINED_SHARE = 0.2;
/** Groups are made of frequent words. */
const REQUIRED_RANKS = [20, 300] as const;
const GROUPS = 2;
const GROUP_SIZE = 20;
/** The keywords of a monitor that become prefixes, and those that become terms whose case counts. */
const PREFIXES = 4;
const CASED = 4;

/**
 * The same monitors without and with conditions, each kind of which is in a fifth of them; by processor time. Changes
 * are also timed one by one.
 */
export function benchConditionsCost(report: Report, corpus: Corpus, count: number): void {
  const items = cutItems(corpus.items, ITEMS).map((item) => ({ ...item, author: 'someone', language: 'en' }));
  const vocabulary = readVocabulary(items.map(({ title, text }) => plainText(title + text)));
  const plain = denseMonitors(vocabulary, count, SHARES);
  const frequent = vocabulary.words.slice(...REQUIRED_RANKS);
  const random = seededRandom(8);
  const refined = plain.map(({ id, rule }) => ({ id, rule: refinedRule(rule, frequent, random) }));
  const cases = [loaded('plain', plain), loaded('with conditions', refined)];
  for (let first = 0; first < items.length; first += SLICE) {
    for (const each of cases) matchAll(each, items.slice(first, first + SLICE));
  }
  for (const { name, monitors, index, cpuMs, matches } of cases) {
    report({
      case: 'conditions-cost',
      monitors: name,
      count,
      items: items.length,
      matches_per_item: Number((matches / items.length).toFixed(1)),
      items_per_cpu_s: Math.round(items.length / (cpuMs / 1000)),
      table_mb: Math.round(index.bytes / 1e6),
      ...timeChanges(index, monitors),
    });
  }
}

interface Measured {
  readonly name: string;
  readonly monitors: readonly BenchMonitor[];
  readonly index: MonitorIndex;
  cpuMs: number;
  matches: number;
}

function loaded(name: string, monitors: readonly BenchMonitor[]): Measured {
  const index = new MonitorIndex();
  for (const { id, rule } of monitors) index.set(id, rule);
  return { name, monitors, index, cpuMs: 0, matches: 0 };
}

function matchAll(measured: Measured, items: readonly MatchItem[]): void {
  const begun = cpuUs();
  for (const item of items) measured.matches += measured.index.match(item).length;
  measured.cpuMs += (cpuUs() - begun) / 1000;
}

/**
 * Replaces monitors by themselves, removes and adds them. The system's count of processor time is too coarse for one
 * change, so it gives the mean only; p99 is of the time that passed.
 */
function timeChanges(index: MonitorIndex, monitors: readonly BenchMonitor[]): Record<string, number> {
  const random = seededRandom(7);
  const changed = Array.from({ length: CHANGED }, () => oneOf(monitors, random));
  const passed: number[] = [];
  const timed = (change: () => void) => {
    const begun = performance.now();
    change();
    passed.push((performance.now() - begun) * 1000);
  };
  const begun = cpuUs();
  for (const { id, rule } of changed) {
    timed(() => index.set(id, rule));
    timed(() => index.remove(id));
    timed(() => index.set(id, rule));
  }
  const mean = (cpuUs() - begun) / passed.length;
  passed.sort((a, b) => a - b);
  const p99 = passed[Math.ceil(passed.length * 0.99) - 1]!;
  return {
    change_cpu_us: Number(mean.toFixed(1)),
    change_p99_us: Math.round(p99),
    change_max_us: Math.round(passed.at(-1)!),
  };
}

/** Of this thread, so that neither other load on the machine nor the collector's threads count. */
function cpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** Keywords that become terms match about as often as before, so that only the conditions make a difference. */
function refinedRule(rule: Rule, frequent: readonly string[], random: Random): Rule {
  const uses = (): boolean => random() < REFINED_SHARE;
  let { keywords } = rule;
  const take = (count: number): string[] => {
    const taken = keywords.filter((keyword) => /^[a-z]{3,}$/.test(keyword)).slice(0, count);
    keywords = keywords.filter((keyword) => !taken.includes(keyword));
    return taken;
  };
  const terms = [
    ...(uses() ? take(PREFIXES).map((text) => ({ text, prefix: true })) : []),
    ...(uses() ? take(CASED).map((text) => ({ text, caseSensitive: true })) : []),
  ];
  const group = (): string[] => Array.from({ length: GROUP_SIZE }, () => oneOf(frequent, random));
  return {
    ...rule,
    keywords,
    ...(terms.length > 0 && { terms }),
    ...(uses() && { matchIn: ['body', 'post_title'] as const }),
    ...(uses() && { require: Array.from({ length: GROUPS }, group) }),
    ...(uses() && { excludeAuthors: ['nobody'], excludeSubreddits: ['nowhere'] }),
    ...(uses() && { languages: ['en'] }),
  };
}
