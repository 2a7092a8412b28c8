import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { seededRandom, shuffled, syntheticWords } from './matcher-random.ts';
import type { Random } from './matcher-random.ts';

export interface CorpusItem {
  kind: 'post' | 'comment';
  /** Empty when it is not known. */
  subreddit: string;
  text: string;
  /** ISO 639-1 code, where the whole source of the item has one language. */
  language?: string;
}

export interface Corpus {
  name: 'real' | 'generated';
  /** In a fixed shuffled order, so that every prefix is a sample of the whole. */
  items: CorpusItem[];
}

/**
 * ITEMS_CORPUS (JSON lines of {kind, subreddit, text, lang}, packed by xz) if that file exists, or else a generated
 * text of the same size.
 */
export function readCorpus(): Corpus {
  const file = resolve(process.env.ITEMS_CORPUS ?? '../shared/data/items-corpus.jsonl.xz');
  const items = existsSync(file) ? unpacked(file) : generated();
  return { name: existsSync(file) ? 'real' : 'generated', items: shuffled(items, seededRandom(1)) };
}

function unpacked(file: string): CorpusItem[] {
  const { error, status, stdout, stderr } = spawnSync('xz', ['-dc', file], { maxBuffer: 2 ** 30 });
  if (error) throw new Error(`xz cannot be run, which unpacks ${file}`, { cause: error });
  if (status !== 0) throw new Error(`xz cannot unpack ${file}: ${stderr.toString().trim()}`);
  const lines = stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => {
    const { kind, subreddit, text, lang } = JSON.parse(line) as Record<string, string | undefined> & { text: string };
    const language = lang === undefined || lang === 'mul' ? {} : { language: lang };
    return { kind: kind === 't3' ? 'post' : 'comment', subreddit: subreddit ?? '', text, ...language };
  });
}

const ITEMS = 90_000;
const WORDS = 60_000;
const SUBREDDITS = 200;
const MOST_SENTENCES = 6;

/**
 * Sentences of invented words with Zipf frequencies, as in a natural language: the n-th word occurs 1/n times as often.
 */
function generated(): CorpusItem[] {
  const random = seededRandom(2);
  const words = syntheticWords(WORDS, random);
  const cumulated = new Float64Array(WORDS);
  let sum = 0;
  for (let rank = 0; rank < WORDS; rank++) cumulated[rank] = sum += 1 / (rank + 1);
  const draw = () => words[firstAbove(cumulated, random() * sum)]!;
  return Array.from({ length: ITEMS }, () => {
    const sentences = Array.from({ length: 1 + Math.floor(random() * MOST_SENTENCES) }, () => sentence(draw, random));
    return {
      kind: random() < 0.3 ? 'post' : 'comment',
      subreddit: `community${Math.floor(random() * SUBREDDITS)}`,
      text: sentences.join(random() < 0.1 ? '\n\n' : ' '),
    };
  });
}

function sentence(draw: () => string, random: Random): string {
  const parts = Array.from({ length: 3 + Math.floor(random() * 12) }, () => decorated(draw(), random));
  const text = parts.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1) + '.!?'.charAt(Math.floor(random() * random() * 3));
}

/** Punctuation and spaces between words, about as frequent as in real texts. */
function decorated(word: string, random: Random): string {
  const chance = random();
  if (chance < 0.06) return `${word},`;
  if (chance < 0.07) return `${word}'s`;
  if (chance < 0.08) return `${word}’s`;
  if (chance < 0.09) return `**${word}**`;
  if (chance < 0.095) return `${word}-${word}`;
  if (chance < 0.1) return `${word}é`;
  return word;
}

/** The first index whose value is above `limit`, for values in ascending order. */
function firstAbove(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
