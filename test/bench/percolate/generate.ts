import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import { readCorpus } from '../shared/corpus.ts';
import { commentOf, cutItems } from '../shared/matcher-items.ts';
import { denseMonitors } from '../shared/matcher-monitors.ts';
import type { BenchMonitor } from '../shared/matcher-monitors.ts';
import { Unusable } from './percolate-files.ts';
import { plainText, readVocabulary } from '../shared/matcher-vocabulary.ts';
import { writeLines } from '../shared/write-lines.ts';

/** Matches of an item for 100,000 monitors, proportional for other numbers, and the shares of the keywords at first. */
const DENSE = { matchesPerItem: 193, words: 0.5, phrases: 0.25 };
const SPARSE = { matchesPerItem: 30, words: 0.062, phrases: 0.08 };
const TUNING_STEPS = 4;
const TUNING_ITEMS = 4_000;
/** The accepted relative difference. */
const TOLERANCE = 0.01;

export interface GenerateOptions {
  monitors: number;
  items: number;
  sparse: boolean;
}

/**
 * Writes monitors.jsonl and items.jsonl into the folder. Determines by trial, on some of the items, how many keywords
 * must be words of the text.
 */
export async function generateFiles(folder: string, options: GenerateOptions): Promise<object> {
  const corpus = readCorpus();
  const texts = cutItems(corpus.items, options.items).map(({ title, text }) => title + text);
  if (texts.length < options.items) throw new Unusable(`The corpus has no more than ${texts.length} items.`);
  const vocabulary = readVocabulary(texts.map(plainText));
  const every = Math.max(1, Math.floor(texts.length / TUNING_ITEMS));
  const sample = texts.filter((_, position) => position % every === 0);
  const { matchesPerItem, phrases, words: wordsAtFirst } = options.sparse ? SPARSE : DENSE;
  const targetPerItem = (matchesPerItem * options.monitors) / 100_000;
  let words = wordsAtFirst;
  let monitors: BenchMonitor[] = [];
  for (let step = 0; step < TUNING_STEPS; step++) {
    monitors = denseMonitors(vocabulary, options.monitors, { words, phrases });
    const mean = meanMatches(monitors, sample);
    if (Math.abs(mean / targetPerItem - 1) < TOLERANCE) break;
    words = Math.min(1 - phrases, (words * targetPerItem) / mean);
  }
  mkdirSync(folder, { recursive: true });
  const lines = monitors.map(({ id, rule: { keywords, exclude } }) => ({ id, keywords, exclude }));
  await writeLines(join(folder, 'monitors.jsonl'), lines);
  await writeLines(
    join(folder, 'items.jsonl'),
    texts.map((text) => ({ text })),
  );
  return {
    corpus: corpus.name,
    monitors: monitors.length,
    items: texts.length,
    item_bytes: Math.round(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / texts.length),
    matches_per_item: Number(meanMatches(monitors, texts).toFixed(1)),
  };
}

function meanMatches(monitors: readonly BenchMonitor[], texts: readonly string[]): number {
  const index = new MonitorIndex();
  for (const { id, rule } of monitors) index.set(id, rule);
  let matches = 0;
  for (const text of texts) index.forEachMatch(commentOf(text), () => matches++);
  return matches / texts.length;
}
