/**
 * Searches a text of 20 MB for 1,000 to 1,000,000 terms with the product's matcher and with the npm package
 * ahocorasick, and matches 100,000 items against 100,000 monitors in memory. Every number of matches is checked. One MB
 * is a million characters. `--only CASE` (may be repeated) runs a part; `--monitors N` sets how many monitors match
 * items in memory.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Report } from '../main.ts';
import { readCorpus } from '../shared/corpus.ts';
import type { Corpus } from '../shared/corpus.ts';
import type { MatcherJob, MatcherMeasurement, Speed } from './matcher-child.ts';
import type { EngineName } from './matching-engines.ts';
import { expectedMatches } from './expected-matches.ts';
import { measure } from './measure.ts';
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
const TERM_CASES: Record<'terms' | 'rare-terms', TermCase> = {
  /** Rare and frequent words and phrases of the text. With many terms, each item has several. */
  terms: {
    shares: { words: 0.4, phrases: 0.3, maxFrequent: 20 },
    runs: [
      { engine: 'ours', terms: 1_000 },
      { engine: 'ahocorasick', terms: 1_000 },
      { engine: 'ours', terms: COMPARED_SIZE },
      { engine: 'ahocorasick', terms: COMPARED_SIZE },
      { engine: 'ours', terms: 1_000_000 },
    ],
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
/** The slower engine searches only the beginning of the text. */
const TEXT_MB: Record<EngineName, number> = { ours: 20, ahocorasick: 4 };
const CASES = ['terms', 'rare-terms', 'raw-text', 'pipeline'];

export default async function benchMatcher(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { only: { type: 'string', multiple: true }, monitors: { type: 'string' } },
  });
  const cases = values.only ?? CASES;
  const unknown = cases.find((name) => !CASES.includes(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${CASES.join(', ')}`);
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
  const texts = repeated(plain, TEXT_MB.ours);
  const textFile = stringsFile(folder, 'plain', texts);
  const compared = new Map<EngineName, MatcherMeasurement>();
  let termsFile = '';
  let expected: number[] = [];
  let written = 0;
  for (const { engine, terms: size } of runs) {
    if (written !== size) {
      const terms = drawTerms(vocabulary, shares, size);
      if (new Set(terms).size !== size) throw new Error(`${size} terms are not distinct`);
      termsFile = stringsFile(folder, 'terms', terms);
      expected = expectedMatches(texts, terms);
      written = size;
    }
    const job: MatcherJob = { engine, textFile, termsFile, texts: repeated(texts, TEXT_MB[engine]).length };
    const measured = await measure('matcher-child.ts', job);
    const { matches } = measured;
    const density = rounded(matches / job.texts, 2);
    line({ engine, terms: size, ...figures(measured, job, size), matches, matches_per_item: density });
    if (matches !== expected[job.texts]) {
      throw new Error(`${engine}, ${size} terms: ${matches} matches, expected ${expected[job.texts]}`);
    }
    if (size === COMPARED_SIZE) compared.set(engine, measured);
  }
  reportRatio(line, compared.get('ours'), compared.get('ahocorasick'));
}

/** Compares processor time, so that other load on the machine does not matter. */
function reportRatio(report: Report, ours?: MatcherMeasurement, theirs?: MatcherMeasurement): void {
  if (!ours || !theirs) throw new Error(`no ratio at ${COMPARED_SIZE} terms`);
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

/** The original texts, with all their Unicode, entities and Markdown. */
async function benchRawText(report: Report, corpus: Corpus, vocabulary: Vocabulary, folder: string): Promise<void> {
  const raw = corpus.items.map(({ text }) => text);
  const texts = repeated(raw, TEXT_MB.ours);
  const job: MatcherJob = {
    engine: 'ours',
    textFile: stringsFile(folder, 'raw', texts),
    termsFile: stringsFile(folder, 'terms', drawTerms(vocabulary, TERM_CASES.terms.shares, COMPARED_SIZE)),
    texts: texts.length,
  };
  const measured = await measure('matcher-child.ts', job);
  report({ case: 'raw-text', engine: 'ours', terms: COMPARED_SIZE, ...figures(measured, job, COMPARED_SIZE) });
}

/** The prefix of the figures of an engine's other search. */
const OTHER = { ours: 'monitors_', ahocorasick: 'substrings_' };

/** `mb_per_s` is the same work for every engine. Reports memory where it can be measured. */
function figures(measured: MatcherMeasurement, { engine, texts }: MatcherJob, terms: number): object {
  const { search, otherSearch, build_ms, heap_bytes, units } = measured;
  const speeds = ({ byClock, byProcessor }: Speed, prefix: string) => ({
    [`${prefix}mb_per_s`]: rounded(byClock, 2),
    [`${prefix}mb_per_cpu_s`]: rounded(byProcessor, 2),
  });
  return {
    ...speeds(search, ''),
    ...speeds(otherSearch, OTHER[engine]),
    build_ms: rounded(build_ms, 0),
    bytes_per_term: rounded(heap_bytes / terms, 1),
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
