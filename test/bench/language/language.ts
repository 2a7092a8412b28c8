import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { UNDECIDED_LANGUAGE } from '../../../schemas/messages/item-languages.ts';
import { detectableText } from '../../../shared/language/detectable-text.ts';
import { loadLanguageDetector } from '../../../shared/language/load-language-detector.ts';
import type { LanguageDetector } from '../../../shared/language/load-language-detector.ts';
import { readCorpus } from '../shared/corpus.ts';
import type { Bench, Report } from '../main.ts';

/** Upper bounds of the groups of lengths, in letters of prose. */
const LENGTHS = [10, 20, 45, 70, 120, Infinity];
/** Each sentence is also cut to its first words, because comments are short. */
const CUTS = [2, 4, 6, 12, Infinity];

interface Sample {
  group: string;
  language: string;
  text: string;
}

/**
 * How exact and how fast the detection of languages is: `language [--sentences FOLDER]`.
 *
 * - The items of ITEMS_CORPUS whose source has one language (English comments, Japanese and Korean reviews).
 * - With `--sentences`, the lines of the files `de.txt`, `fr.txt` … of the folder, whole and cut to their first words.
 *   The figures in the README are from the test sentences of github.com/pemistahl/lingua-py, folder
 *   `language-testdata/sentences`, which the detector was not trained on.
 * - Time and memory, over the whole corpus.
 */
const bench: Bench = async (report, args) => {
  const { values } = parseArgs({ args, options: { sentences: { type: 'string' } } });
  const before = heapInUse();
  const cpu = process.cpuUsage();
  const detect = await loadLanguageDetector();
  const loaded = process.cpuUsage(cpu);
  report({
    load_cpu_ms: Math.round((loaded.user + loaded.system) / 1_000),
    heap_mb: Math.round((heapInUse() - before) / 1e6),
  });
  const { name, items } = readCorpus();
  const labelled = items.flatMap(({ language, text }) =>
    language ? [{ group: `corpus ${language}`, language, text }] : [],
  );
  const sentences = values.sentences === undefined ? [] : readSentences(values.sentences);
  reportAccuracy(report, detect, [...labelled, ...sentences]);
  const start = process.cpuUsage();
  for (const { text } of items) detect([text]);
  const { user, system } = process.cpuUsage(start);
  report({
    corpus: name,
    items: items.length,
    items_per_cpu_second: Math.round(items.length / ((user + system) / 1e6)),
  });
};

/** Bytes of the heap after a garbage collection. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

function readSentences(folder: string): Sample[] {
  return readdirSync(folder)
    .filter((file) => /^[a-z]{2}\.txt$/.test(file))
    .flatMap((file) => {
      const language = file.slice(0, 2);
      return readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .flatMap((line) => {
          const words = line.trim().split(' ');
          return CUTS.map((count) => ({ group: language, language, text: words.slice(0, count).join(' ') }));
        });
    });
}

function reportAccuracy(report: Report, detect: LanguageDetector, samples: readonly Sample[]): void {
  const groups = new Map<string, Map<number, { right: number; undecided: number; wrong: Map<string, number> }>>();
  for (const { group, language, text } of samples) {
    const letters = detectableText([text]).match(/\p{L}/gu)?.length ?? 0;
    const below = LENGTHS.find((length) => letters < length)!;
    const ofGroup =
      groups.get(group) ?? new Map<number, { right: number; undecided: number; wrong: Map<string, number> }>();
    groups.set(group, ofGroup);
    const counts = ofGroup.get(below) ?? { right: 0, undecided: 0, wrong: new Map<string, number>() };
    ofGroup.set(below, counts);
    const found = detect([text]);
    if (found === language) counts.right += 1;
    else if (found === UNDECIDED_LANGUAGE) counts.undecided += 1;
    else counts.wrong.set(found, (counts.wrong.get(found) ?? 0) + 1);
  }
  for (const [group, ofGroup] of groups) {
    for (const [below, { right, undecided, wrong }] of [...ofGroup].sort(([a], [b]) => a - b)) {
      const wrongs = [...wrong.values()].reduce((sum, count) => sum + count, 0);
      const texts = right + undecided + wrongs;
      const percent = (count: number) => Math.round((10_000 * count) / texts) / 100;
      report({
        group,
        letters_below: below === Infinity ? 'any' : below,
        texts,
        right: percent(right),
        undecided: percent(undecided),
        wrong: percent(wrongs),
        mistaken_for: Object.fromEntries([...wrong].sort(([, a], [, b]) => b - a).slice(0, 3)),
      });
    }
  }
}

export default bench;
