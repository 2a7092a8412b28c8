import type { TermCase } from './term-case.ts';
import { ENTITIES_AND_ESCAPES_CASES } from './rule-01-entities-and-escapes.cases.ts';
import { COMPATIBLE_FORMS_CASES } from './rule-02-compatible-forms.cases.ts';
import { CASE_FOLDING_CASES } from './rule-03-case-folding.cases.ts';
import { INVISIBLE_CHARACTERS_CASES } from './rule-04-invisible-characters.cases.ts';
import { WORD_CHARACTERS_CASES } from './rule-05-word-characters.cases.ts';
import { WHOLE_WORDS_CASES } from './rule-06-whole-words.cases.ts';
import { APOSTROPHES_CASES } from './rule-07-apostrophes.cases.ts';
import { SEPARATORS_CASES } from './rule-08-separators.cases.ts';
import { PHRASES_CASES } from './rule-09-phrases.cases.ts';
import { INNER_PUNCTUATION_CASES } from './rule-10-inner-punctuation.cases.ts';
import { EDGE_SYMBOLS_CASES } from './rule-11-edge-symbols.cases.ts';
import { SINGLE_LETTERS_CASES } from './rule-12-single-letters.cases.ts';
import { SYMBOLS_AND_EMOJI_CASES } from './rule-13-symbols-and-emoji.cases.ts';
import { SCRIPTS_WITHOUT_SPACES_CASES } from './rule-14-scripts-without-spaces.cases.ts';
import { MIXED_SCRIPTS_CASES } from './rule-15-mixed-scripts.cases.ts';

/** The tables of rules 1 to 15, in the order of the rules. */
export const TERM_CASES: readonly TermCase[] = [
  ...ENTITIES_AND_ESCAPES_CASES,
  ...COMPATIBLE_FORMS_CASES,
  ...CASE_FOLDING_CASES,
  ...INVISIBLE_CHARACTERS_CASES,
  ...WORD_CHARACTERS_CASES,
  ...WHOLE_WORDS_CASES,
  ...APOSTROPHES_CASES,
  ...SEPARATORS_CASES,
  ...PHRASES_CASES,
  ...INNER_PUNCTUATION_CASES,
  ...EDGE_SYMBOLS_CASES,
  ...SINGLE_LETTERS_CASES,
  ...SYMBOLS_AND_EMOJI_CASES,
  ...SCRIPTS_WITHOUT_SPACES_CASES,
  ...MIXED_SCRIPTS_CASES,
];
