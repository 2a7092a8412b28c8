/**
 * `[--items N] [--archive URL]`: previews over an archive of N items (10,000,000) of the last 19 hours, in an engine of
 * its own, whose folder (6 GB for 10 million items) is removed at the end; or over an archive that this benchmark
 * filled before. The items are those of the corpus, again and again with other ids and times, so words are as frequent
 * as there. A group has the rules whose words at most one item of 500 has, which are the same for any N. Rules of very
 * common words are reported with how far back they were exact within the 8 s of an answer. Beside each group is the
 * time of a bare count() of the same words.
 */
import { PreviewCounts } from '../../../services/api/monitors/preview/preview-counts.ts';
import { scanArchive } from '../../../services/api/monitors/preview/scan-archive.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Rule } from '../../../shared/matching/rule.ts';
import { narrowRule } from '../../../shared/stores/archive/narrow-rule.ts';
import type { Report } from '../main.ts';
import { readCorpus } from '../shared/corpus.ts';
import type { CorpusItem } from '../shared/corpus.ts';
import { withFilledArchive } from '../shared/filled-archive.ts';
import { plainText, readVocabulary } from '../shared/matcher-vocabulary.ts';
import { percentiles, spread } from '../shared/percentiles.ts';

const DAY_MS = 86_400_000;
const BUDGET_MS = 8_000;
/** Of all items. */
const MOST_CANDIDATES = 1 / 500;
const RULES = 20;
const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]+/gu;

export default async function benchPreview(report: Report, args: string[]): Promise<void> {
  const corpus = readCorpus();
  await withFilledArchive(report, args, corpus, (clickhouse) => measure(report, clickhouse, corpus.items));
}

async function measure(report: Report, clickhouse: ClickHouseClient, corpus: readonly CorpusItem[]): Promise<void> {
  const most = MOST_CANDIDATES * (await countItems(clickhouse, '1'));
  const vocabulary = readVocabulary(corpus.map(({ text }) => plainText(text)));
  const { words, counts, phrases } = vocabulary;
  const between = (least: number, most: number) =>
    words.filter((word) => (counts.get(word) ?? 0) >= least && (counts.get(word) ?? 0) < most);
  const rare = spread(between(20, 180), RULES);
  // A phrase is narrowed by its words, so those of frequent words have many candidates.
  const rarePhrases = phrases.filter((phrase) => phrase.split(' ').some((word) => (counts.get(word) ?? 0) < 20));
  const cjk = readCjkPairs(corpus);
  const many = Array.from({ length: RULES }, (_, rule) => [
    ...spread(between(3, 10).slice(rule), 10),
    ...spread(rarePhrases.slice(rule), 6),
    ...spread(cjk.slice(rule), 4),
  ]);
  const groups: [group: string, rules: string[][], most: number][] = [
    ['one keyword', rare.map((word) => [word]), most],
    ['20 keywords with phrases and CJK', many, most],
    ['very common words', words.slice(0, 5).map((word) => [word]), Infinity],
  ];
  for (const [group, rules, limit] of groups) report({ group, ...(await measureGroup(clickhouse, rules, limit)) });
}

/** Pairs of CJK characters of which one is rare: a pair is narrowed by its characters, as a phrase by its words. */
function readCjkPairs(corpus: readonly CorpusItem[]): string[] {
  const counts = new Map<string, number>();
  const pairs = new Set<string>();
  for (const { text } of corpus) {
    const characters = [...text.matchAll(CJK)].flatMap(([run]) => Array.from(run, (one, at) => [one, run[at + 1]]));
    for (const [one, other] of characters) if (other !== undefined) pairs.add(one! + other);
    for (const one of new Set(characters.map(([character]) => character!))) counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  return [...pairs].filter((pair) => Math.min(counts.get(pair[0]!)!, counts.get(pair[1]!)!) < 10);
}

/** @param most candidates of a rule that counts */
async function measureGroup(clickhouse: ClickHouseClient, rules: readonly string[][], most: number): Promise<object> {
  const runs = [];
  for (const keywords of rules) runs.push(await measureRule(clickhouse, keywords));
  const measured = runs.filter(({ candidates }) => candidates <= most);
  const times = (list: number[]) => ({
    ...percentiles(list),
    p95: list.toSorted((a, b) => a - b)[Math.floor(list.length * 0.95)],
  });
  return {
    rules: measured.length,
    candidates: percentiles(measured.map(({ candidates }) => candidates)),
    matches: percentiles(measured.map(({ matches }) => matches)),
    preview_ms: times(measured.map(({ ms }) => Math.round(ms))),
    bare_count_ms: times(measured.map(({ bareMs }) => Math.round(bareMs))),
    exact_hours: percentiles(measured.map(({ hours }) => hours)),
    exact: measured.filter(({ done }) => done).length,
  };
}

/** How many items meet a condition. */
async function countItems(clickhouse: ClickHouseClient, condition: string): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT count() AS counted FROM items WHERE ${condition}`,
    format: 'JSONEachRow',
  });
  const [{ counted } = { counted: 0 }] = await result.json<{ counted: number }>();
  return counted;
}

interface Run {
  /** In the whole archive. */
  candidates: number;
  matches: number;
  ms: number;
  bareMs: number;
  /** How far back the answer was exact. */
  hours: number;
  done: boolean;
}

async function measureRule(clickhouse: ClickHouseClient, keywords: string[]): Promise<Run> {
  const rule: Rule = { keywords, exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };
  const to = new Date();
  const asked = performance.now();
  const candidates = await countItems(clickhouse, narrowRule(rule));
  const bareMs = performance.now() - asked;
  const counts = new PreviewCounts(false);
  const begun = performance.now();
  const scan = scanArchive(
    {
      clickhouse,
      rules: { rule },
      from: new Date(to.getTime() - 7 * DAY_MS),
      to,
      gone: undefined,
      deadline: AbortSignal.timeout(BUDGET_MS),
    },
    (item, [match]) => match !== undefined && counts.add(item, match),
  );
  let last = { exactFrom: to, candidates: 0, done: false };
  for await (const extent of scan) last = extent;
  const hours = (to.getTime() - last.exactFrom.getTime()) / 3_600_000;
  const ms = performance.now() - begun;
  return { candidates, matches: counts.total, ms, bareMs, hours, done: last.done };
}
