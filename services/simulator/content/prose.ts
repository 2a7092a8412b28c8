import type { Community, Language } from './communities.ts';
import type { Dice } from './seeded-random.ts';
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

function fill(template: string, community: Community, dice: Dice): string {
  return template.replace(/\{([tupdn])\}/g, (_, slot: string) => {
    if (slot === 'p') return dice.pick(PLACES);
    if (slot === 'd') return dice.pick(TIMES);
    if (slot === 'n') return String(2 + dice.below(97));
    return dice.pick(THINGS[community.theme]);
  });
}

function watchedSentence(word: (typeof WATCHED_WORDS)[number], dice: Dice): string {
  const shape = dice
    .pick(SHAPES)
    .replaceAll('{w}', word)
    .replaceAll('{W}', word.toUpperCase())
    .replaceAll('{C}', word[0]!.toUpperCase() + word.slice(1));
  return dice.pick(WATCHED_SENTENCES[word]).replace('{w}', shape);
}

/** The watched words that this text happens to contain, as sentences; mostly none. */
function watchedSentences(dice: Dice): string[] {
  const found: string[] = [];
  for (const word of WATCHED_WORDS) if (dice.chance(WATCHED_SHARE)) found.push(watchedSentence(word, dice));
  if (dice.chance(DECOY_SHARE)) found.push(dice.pick(DECOYS));
  return found;
}

/** Different sentences of a pool, filled in; a text says nothing twice. */
function someOf(pool: readonly string[], count: number, community: Community, dice: Dice): string[] {
  const templates = new Set(Array.from({ length: count }, () => dice.pick(pool)));
  return [...templates].map((template) => fill(template, community, dice));
}

function englishText(pool: readonly string[], count: number, community: Community, dice: Dice): string {
  const sentences = someOf(pool, count, community, dice);
  for (const sentence of watchedSentences(dice)) sentences.splice(dice.below(sentences.length + 1), 0, sentence);
  return sentences.reduce((text, sentence) => {
    // Quotes and lists are blocks of their own.
    const isBlock = sentence.includes('\n') || text.includes('\n1. ');
    return text + (isBlock || dice.chance(0.2) ? '\n\n' : ' ') + sentence;
  });
}

function foreignText(language: Exclude<Language, 'en'>, count: number, community: Community, dice: Dice): string {
  const book = PHRASEBOOKS[language];
  const sentences = someOf(book.sentences, count, community, dice);
  if (dice.chance(WATCHED_ABROAD_SHARE)) sentences.push(fill(dice.pick(book.watched), community, dice));
  return sentences.join(language === 'zh' || language === 'ja' || language === 'th' ? '' : ' ');
}

export function postTitle(community: Community, dice: Dice): string {
  if (community.language !== 'en') {
    const book = PHRASEBOOKS[community.language];
    return fill(dice.pick(dice.chance(0.15) ? book.watched : book.titles), community, dice);
  }
  const word = dice.pick(WATCHED_WORDS);
  if (dice.chance(0.03)) return watchedSentence(word, dice).replace(/\.$/, '');
  const title = fill(dice.pick(TITLES), community, dice);
  return dice.chance(0.05) ? `${title} (a question & an answer)` : title;
}

/** Markdown of 1 to 6 sentences. */
export function postText(community: Community, dice: Dice): string {
  const count = 1 + dice.below(5);
  return community.language === 'en'
    ? englishText(BODY_SENTENCES, count, community, dice)
    : foreignText(community.language, count, community, dice);
}

export function commentText(community: Community, dice: Dice): string {
  const count = 1 + Math.floor(dice.next() * dice.next() * 4);
  let language = community.language;
  let guest = dice.next();
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
    ? englishText(COMMENT_SENTENCES, count, community, dice)
    : foreignText(language, count, community, dice);
}
