/**
 * Searches a text of 20 MB for 1,000 to 1,000,000 terms with the product's matcher, with the npm package ahocorasick
 * and with naive regular expressions, and matches 100,000 items against 100,000 monitors in memory. Every number of
 * matches is checked. 2,000 rules with all kinds of conditions must match 20,000 items as regular expressions say, and
 * 20,000 monitors are compared without and with conditions. One MB is a million characters. `--only CASE` (may be
 * repeated) runs a part; `--monitors N` sets how many monitors match items in memory (100,000) and how many are
 * compared without and with conditions (20,000).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Report } from '../main.ts';
import { readCorpus } from '../shared/corpus.ts';
import type { Corpus } from '../shared/corpus.ts';
import { OutOfBounds, runBounded } from './bounded-child.ts';
import type { Bounds } from './bounded-child.ts';
import type { MatcherJob, MatcherMeasurement, Speed } from './matcher-child.ts';
import type { EngineName } from './matching-engines.ts';
import { expectedMatches } from './expected-matches.ts';
import { benchConditions } from './conditions.ts';
import { benchConditionsCost } from './conditions-cost.ts';
import { benchPipeline } from './pipeline.ts';
import { drawTerms } from './terms.ts';
import type { TextShares } from './terms.ts';
import { plainText, readVocabulary } from '../shared/matcher-vocabulary.ts';
import type { Vocabulary } from '../shared/matcher-vocabulary.ts';

interface TermCase {
  shares: TextShares;
  runs: { engine: EngineName; terms: number }[];
}

const COMPARED_SIZE = 100_000;
const ENGINES: EngineName[] = ['ours', 'ahocorasick', 'regexp'];
const TERM_CASES: Record<'terms' | 'rare-terms', TermCase> = {
  /** Rare and frequent words and phrases of the text. With many terms, each item has several. */
  terms: {
    shares: { words: 0.4, phrases: 0.3, maxFrequent: 20 },
    runs: [1_000, 10_000, COMPARED_SIZE, 1_000_000].flatMap((terms) => ENGINES.map((engine) => ({ engine, terms }))),
  },
  /**
   * Nearly all terms occur in no text, as nearly all keywords do not occur in an item. This measures the search without
   * the finding.
   */
  'rare-terms': {
    shares: { words: 0.03, phrases: 0.03, maxFrequent: 0 },
    runs: [
      { engine: 'ours', terms: COMPARED_SIZE },
      { engine: 'ahocorasick', terms: COMPARED_SIZE },
      { engine: 'ours', terms: 1_000_000 },
    ],
  },
};
const TEXT_MB = 20;
/** The slower engines search only the beginning of the text. Undefined: even that would take too long. */
const SLOWER_TEXT_MB: Record<Exclude<EngineName, 'ours'>, (terms: number) => number | undefined> = {
  ahocorasick: () => 4,
  regexp: (terms) => ({ 1_000: 0.5, 10_000: 0.1 })[terms],
};
/** Our engine must finish even on a busy machine. */
const BOUNDS: Record<EngineName, Bounds> = {
  ours: { heapMb: 4_096, seconds: 1_800 },
  ahocorasick: { heapMb: 4_096, seconds: 120 },
  regexp: { heapMb: 4_096, seconds: 120 },
};
const CASES = ['terms', 'rare-terms', 'raw-text', 'pipeline', 'conditions', 'conditions-cost'];

export default async function benchMatcher(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { only: { type: 'string', multiple: true }, monitors: { type: 'string' } },
  });
  const cases = values.only ?? CASES;
  const unknown = cases.find((name) => !CASES.includes(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${CASES.join(', ')}`);
  if (cases.includes('conditions')) benchConditions(report);
  if (cases.every((name) => name === 'conditions')) return;
  const corpus = readCorpus();
  const vocabulary = readVocabulary(corpus.items.map(({ text }) => plainText(text)));
  const folder = mkdtempSync(join(tmpdir(), 'bench-matcher-'));
  const line: Report = (fields) => report({ ...fields, corpus: corpus.name });
  try {
    for (const name of ['terms', 'rare-terms'] as const) {
      if (cases.includes(name)) await benchTerms(line, name, corpus, vocabulary, folder);
    }
    if (cases.includes('raw-text')) await benchRawText(line, corpus, vocabulary, folder);
    if (cases.includes('pipeline'))
      await benchPipeline(line, corpus, { folder, count: Number(values.monitors ?? 100_000) });
    if (cases.includes('conditions-cost')) benchConditionsCost(line, corpus, Number(values.monitors ?? 20_000));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchTerms(
  report: Report,
  name: keyof typeof TERM_CASES,
  corpus: Corpus,
  vocabulary: Vocabulary,
  folder: string,
): Promise<void> {
  const { shares, runs } = TERM_CASES[name];
  const line: Report = (fields) => report({ case: name, ...fields });
  const plain = corpus.items.map(({ text }) => plainText(text));
  const texts = repeated(plain, TEXT_MB);
  const textFile = stringsFile(folder, 'plain', texts);
  const compared = new Map<EngineName, MatcherMeasurement>();
  let termsFile = '';
  let expected: number[] = [];
  let written = 0;
  for (const { engine, terms: size } of runs) {
    const megabytes = engine === 'ours' ? TEXT_MB : SLOWER_TEXT_MB[engine](size);
    if (megabytes === undefined) {
      line({ engine, terms: size, skipped: 'its time grows with the number of terms' });
      continue;
    }
    if (written !== size) {
      const terms = drawTerms(vocabulary, shares, size);
      if (new Set(terms).size !== size) throw new Error(`${size} terms are not distinct`);
      termsFile = stringsFile(folder, 'terms', terms);
      expected = expectedMatches(texts, terms);
      written = size;
    }
    const job: MatcherJob = { engine, textFile, termsFile, texts: repeated(texts, megabytes).length };
    const measured = await measureTerms(line, job, size);
    if (measured && measured.matches !== expected[job.texts]) {
      throw new Error(`${engine}, ${size} terms: ${measured.matches} matches, expected ${expected[job.texts]}`);
    }
    if (measured && size === COMPARED_SIZE) compared.set(engine, measured);
  }
  reportRatio(line, compared.get('ours'), compared.get('ahocorasick'));
}

/** Compares processor time, so that other load on the machine does not matter. */
function reportRatio(report: Report, ours?: MatcherMeasurement, theirs?: MatcherMeasurement): void {
  if (!ours?.otherSearch || !theirs?.otherSearch) throw new Error(`no ratio at ${COMPARED_SIZE} terms`);
  const ratio = (one: Speed, other: Speed) => rounded(one.byProcessor / other.byProcessor, 1);
  report({
    engine: 'ratio',
    terms: COMPARED_SIZE,
    ours_over_ahocorasick: ratio(ours.search, theirs.search),
    // In favour of the package: without filtering whole words.
    ours_over_its_substrings: ratio(ours.search, theirs.otherSearch),
    our_monitors_over_ahocorasick: ratio(ours.otherSearch, theirs.search),
  });
}

/** Prints the engine's line. Returns undefined if an engine other than ours cannot be built within the bounds. */
async function measureTerms(report: Report, job: MatcherJob, terms: number): Promise<MatcherMeasurement | undefined> {
  const { engine } = job;
  try {
    const measured = await runBounded('matcher-child.ts', job, BOUNDS[engine]);
    const { matches } = measured;
    const density = rounded(matches / job.texts, 2);
    report({ engine, terms, ...figures(measured, job, terms), matches, matches_per_item: density });
    return measured;
  } catch (error) {
    if (engine === 'ours' || !(error instanceof OutOfBounds)) throw error;
    report({ engine, terms, failed: `could not be built and run: ${error.message}` });
    return undefined;
  }
}

/** The original texts, with all their Unicode, entities and Markdown. */
async function benchRawText(report: Report, corpus: Corpus, vocabulary: Vocabulary, folder: string): Promise<void> {
  const raw = corpus.items.map(({ text }) => text);
  const texts = repeated(raw, TEXT_MB);
  const job: MatcherJob = {
    engine: 'ours',
    textFile: stringsFile(folder, 'raw', texts),
    termsFile: stringsFile(folder, 'terms', drawTerms(vocabulary, TERM_CASES.terms.shares, COMPARED_SIZE)),
    texts: texts.length,
  };
  const measured = await runBounded('matcher-child.ts', job, BOUNDS.ours);
  report({ case: 'raw-text', engine: 'ours', terms: COMPARED_SIZE, ...figures(measured, job, COMPARED_SIZE) });
}

/** The prefix of the figures of an engine's other search. */
const OTHER = { ours: 'monitors_', ahocorasick: 'substrings_', regexp: '' };

/** `mb_per_s` is the same work for every engine. Reports memory where it can be measured. */
function figures(measured: MatcherMeasurement, { engine, texts }: MatcherJob, terms: number): object {
  const { search, otherSearch, build_ms, bytes, heap_bytes, units } = measured;
  const speeds = ({ byClock, byProcessor }: Speed, prefix: string) => ({
    [`${prefix}mb_per_s`]: rounded(byClock, 2),
    [`${prefix}mb_per_cpu_s`]: rounded(byProcessor, 2),
  });
  return {
    ...speeds(search, ''),
    ...(otherSearch ? speeds(otherSearch, OTHER[engine]) : {}),
    build_ms: rounded(build_ms, 0),
    ...(engine === 'regexp' ? {} : { bytes_per_term: rounded((bytes ?? heap_bytes) / terms, 1) }),
    ...(bytes === null ? {} : { process_bytes_per_term: rounded(heap_bytes / terms, 1) }),
    text_mb: rounded(units / 1e6, 2),
    items: texts,
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Repeats the texts until they have this many million characters. */
function repeated(texts: readonly string[], megabytes: number): string[] {
  const taken: string[] = [];
  for (let index = 0, units = 0; units < megabytes * 1e6; index++) {
    const text = texts[index % texts.length]!;
    units += text.length;
    taken.push(text);
  }
  return taken;
}

/** Writes a JSON array. */
function stringsFile(folder: string, name: string, strings: readonly string[]): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(strings));
  return file;
}
