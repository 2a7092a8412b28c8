import type { Community, Language } from './community-directory.ts';
import type { SeededRandom } from './seeded-random.ts';
import {
  BODY_SENTENCES,
  COMMENT_SENTENCES,
  TITLES,
  PHRASEBOOKS,
  DECOYS,
  PLACES,
  RARE_SENTENCES,
  SHAPES,
  THINGS,
  TIMES,
  WATCHED_SENTENCES,
  WATCHED_WORDS,
} from './sentences.ts';

/** The share of English texts, which are about nine in ten: 2 % of all texts. */
const WATCHED_SHARE = 0.025;
const FOREIGN_WATCHED_SHARE = 0.5;
const DECOY_SHARE = 0.03;
const RARE_SHARE = 0.012;
/** Comments that are not in the language of their community, by the draw below which they are in this one. */
const FOREIGN_COMMENTS: readonly [Language, number][] = [
  ['zh', 0.015],
  ['ja', 0.03],
  ['ko', 0.045],
  ['de', 0.05],
  ['es', 0.055],
];

function fill(template: string, community: Community, random: SeededRandom): string {
  return template.replace(/\{([tupdn])\}/g, (_, slot: string) => {
    if (slot === 'p') return random.pick(PLACES);
    if (slot === 'd') return random.pick(TIMES);
    if (slot === 'n') return String(2 + random.below(97));
    return random.pick(THINGS[community.theme]);
  });
}

function watchedSentence(word: (typeof WATCHED_WORDS)[number], random: SeededRandom): string {
  const shape = random
    .pick(SHAPES)
    .replaceAll('{w}', word)
    .replaceAll('{W}', word.toUpperCase())
    .replaceAll('{C}', word[0]!.toUpperCase() + word.slice(1));
  return random.pick(WATCHED_SENTENCES[word]).replace('{w}', shape);
}

function watchedSentences(community: Community, random: SeededRandom): string[] {
  const found: string[] = [];
  for (const word of WATCHED_WORDS) if (random.chance(WATCHED_SHARE)) found.push(watchedSentence(word, random));
  if (random.chance(DECOY_SHARE)) found.push(random.pick(DECOYS));
  if (random.chance(RARE_SHARE)) found.push(fill(random.pick(RARE_SENTENCES), community, random));
  return found;
}

function pickSentences(pool: readonly string[], count: number, community: Community, random: SeededRandom): string[] {
  const templates = new Set(Array.from({ length: count }, () => random.pick(pool)));
  return [...templates].map((template) => fill(template, community, random));
}

function englishText(pool: readonly string[], count: number, community: Community, random: SeededRandom): string {
  const sentences = pickSentences(pool, count, community, random);
  for (const sentence of watchedSentences(community, random))
    sentences.splice(random.below(sentences.length + 1), 0, sentence);
  return sentences.reduce((text, sentence) => {
    // Quotes and lists are separate Markdown blocks.
    const isBlock = sentence.includes('\n') || text.includes('\n1. ');
    return text + (isBlock || random.chance(0.2) ? '\n\n' : ' ') + sentence;
  });
}

function foreignText(
  language: Exclude<Language, 'en'>,
  count: number,
  community: Community,
  random: SeededRandom,
): string {
  const book = PHRASEBOOKS[language];
  const sentences = pickSentences(book.sentences, count, community, random);
  if (random.chance(FOREIGN_WATCHED_SHARE)) sentences.push(fill(random.pick(book.watched), community, random));
  return sentences.join(language === 'zh' || language === 'ja' || language === 'th' ? '' : ' ');
}

export function postTitle(community: Community, random: SeededRandom): string {
  if (community.language !== 'en') {
    const book = PHRASEBOOKS[community.language];
    return fill(random.pick(random.chance(0.15) ? book.watched : book.titles), community, random);
  }
  const word = random.pick(WATCHED_WORDS);
  if (random.chance(0.03)) return watchedSentence(word, random).replace(/\.$/, '');
  const title = fill(random.pick(TITLES), community, random);
  return random.chance(0.05) ? `${title} (a question & an answer)` : title;
}

/** Markdown of up to five sentences, plus those with watched words. */
export function postText(community: Community, random: SeededRandom): string {
  const count = 1 + random.below(5);
  return community.language === 'en'
    ? englishText(BODY_SENTENCES, count, community, random)
    : foreignText(community.language, count, community, random);
}

export function commentText(community: Community, random: SeededRandom): string {
  const count = 1 + Math.floor(random.next() * random.next() * 4);
  const draw = random.next();
  const language = FOREIGN_COMMENTS.find(([, below]) => draw < below)?.[0] ?? community.language;
  return language === 'en'
    ? englishText(COMMENT_SENTENCES, count, community, random)
    : foreignText(language, count, community, random);
}
