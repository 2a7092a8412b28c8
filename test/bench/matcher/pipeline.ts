import { join } from 'node:path';
import type { MatchItem } from '../../../shared/matching/rule.ts';
import type { Report } from '../main.ts';
import type { Corpus } from '../shared/corpus.ts';
import { measure } from './measure.ts';
import { cutItems } from '../shared/matcher-items.ts';
import { sparseMonitors } from '../shared/matcher-monitors.ts';
import { naivePairs } from './naive-pairs.ts';
import type { Pair } from './naive-pairs.ts';
import type { PipelineJob } from './pipeline-child.ts';
import { plainText, readVocabulary } from '../shared/matcher-vocabulary.ts';
import { writeLines } from '../shared/write-lines.ts';

const ITEMS = 100_000;
/** Matches per item before filters and excluded terms, which remove some. */
const MAX_PER_ITEM = 0.1;
const SAMPLE_EVERY = 10;

/** Monitors of 20 keywords and 2 excluded terms, and items that contain almost no keyword, as in production. */
export async function benchPipeline(
  report: Report,
  corpus: Corpus,
  { folder, count }: { folder: string; count: number },
): Promise<void> {
  const items = cutItems(corpus.items, ITEMS);
  const vocabulary = readVocabulary(items.flatMap(({ title, text }) => [plainText(title), plainText(text)]));
  const subreddits = [...new Set(items.map(({ subreddit }) => subreddit))].filter((name) => /^\w{2,21}$/.test(name));
  const options = { count, items: items.length, maxPerItem: MAX_PER_ITEM, subreddits };
  const monitors = () => sparseMonitors(vocabulary, options);
  const job: PipelineJob = {
    monitorsFile: await linesFile(folder, 'monitors', monitors()),
    itemsFile: await linesFile(folder, 'items', items),
    sampleEvery: SAMPLE_EVERY,
  };
  const { pairs, pairsAfterUpdates, ...figures } = await measure('pipeline-child.ts', job);
  const density = figures.matches / figures.items;
  const rounded = Object.entries(figures).map(([name, value]) => [name, value && Number(value.toFixed(1))]);
  report({
    case: 'pipeline',
    ...(Object.fromEntries(rounded) as object),
    item_bytes: Math.round(
      items.reduce((sum, { title, text }) => sum + Buffer.byteLength(title + text), 0) / items.length,
    ),
    matches_per_item: Number(density.toFixed(4)),
    checked_items: Math.ceil(items.length / SAMPLE_EVERY),
    checked_matches: pairs.length,
  });

  if (density > MAX_PER_ITEM) throw new Error(`more than ${MAX_PER_ITEM} monitors match an item`);
  const sample = new Map<number, MatchItem>([...items.entries()].filter(([number]) => number % SAMPLE_EVERY === 0));
  const expected = naivePairs(monitors(), sample);
  assertEqual('the sample', pairs, expected);
  assertEqual('the sample after the updates', pairsAfterUpdates, expected);
}

function assertEqual(what: string, pairs: readonly Pair[], expected: readonly Pair[]): void {
  const [foundPairs, expectedPairs] = [pairs, expected].map(
    (list) => new Set(list.map((pair) => JSON.stringify(pair))),
  );
  const missing = [...expectedPairs!].filter((pair) => !foundPairs!.has(pair));
  const extra = [...foundPairs!].filter((pair) => !expectedPairs!.has(pair));
  if (pairs.length === expected.length && missing.length === 0 && extra.length === 0) return;
  const examples = [
    ...missing.slice(0, 3).map((pair) => `missing ${pair}`),
    ...extra.slice(0, 3).map((pair) => `too many ${pair}`),
  ];
  throw new Error(`${what}: ${pairs.length} matches, expected ${expected.length}; ${examples.join('; ')}`);
}

async function linesFile(folder: string, name: string, values: Iterable<object>): Promise<string> {
  const file = join(folder, `${name}.jsonl`);
  await writeLines(file, values);
  return file;
}
