import type { Community, Language } from './communities.ts';
import type { SeededRandom } from './seeded-random.ts';
import { BODY_SENTENCES, COMMENT_SENTENCES, TITLES } from './sentences.ts';
import { PHRASEBOOKS } from './sentences-in-other-languages.ts';
import { DECOYS, PLACES, SHAPES, THINGS, TIMES, WATCHED_SENTENCES, WATCHED_WORDS } from './vocabulary.ts';

/** Per English text and word. Some nine texts in ten are English, so each word stands in about 2 % of all. */
const WATCHED_SHARE = 0.025;
const WATCHED_ABROAD_SHARE = 0.5;
const DECOY_SHARE = 0.03;
/** Shares of comments written in a language that is not their community's. */
const GUESTS: readonly [Language, number][] = [
  ['zh', 0.015],
  ['ja', 0.015],
  ['ko', 0.015],
  ['de', 0.005],
  ['es', 0.005],
];
const GUEST_SHARE = GUESTS.reduce((sum, [, share]) => sum + share, 0);

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

/** The watched words that this text happens to contain, as sentences; mostly none. */
function watchedSentences(random: SeededRandom): string[] {
  const found: string[] = [];
  for (const word of WATCHED_WORDS) if (random.chance(WATCHED_SHARE)) found.push(watchedSentence(word, random));
  if (random.chance(DECOY_SHARE)) found.push(random.pick(DECOYS));
  return found;
}

/** Different sentences of a pool with their placeholders filled; a text does not repeat a sentence. */
function someOf(pool: readonly string[], count: number, community: Community, random: SeededRandom): string[] {
  const templates = new Set(Array.from({ length: count }, () => random.pick(pool)));
  return [...templates].map((template) => fill(template, community, random));
}

function englishText(pool: readonly string[], count: number, community: Community, random: SeededRandom): string {
  const sentences = someOf(pool, count, community, random);
  for (const sentence of watchedSentences(random)) sentences.splice(random.below(sentences.length + 1), 0, sentence);
  return sentences.reduce((text, sentence) => {
    // Quotes and lists are blocks of their own.
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
  const sentences = someOf(book.sentences, count, community, random);
  if (random.chance(WATCHED_ABROAD_SHARE)) sentences.push(fill(random.pick(book.watched), community, random));
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

/** Markdown of 1 to 6 sentences. */
export function postText(community: Community, random: SeededRandom): string {
  const count = 1 + random.below(5);
  return community.language === 'en'
    ? englishText(BODY_SENTENCES, count, community, random)
    : foreignText(community.language, count, community, random);
}

export function commentText(community: Community, random: SeededRandom): string {
  const count = 1 + Math.floor(random.next() * random.next() * 4);
  let language = community.language;
  let guest = random.next();
  if (guest < GUEST_SHARE) {
    for (const [other, share] of GUESTS) {
      if (guest < share) {
        language = other;
        break;
      }
      guest -= share;
    }
  }
  return language === 'en'
    ? englishText(COMMENT_SENTENCES, count, community, random)
    : foreignText(language, count, community, random);
}
