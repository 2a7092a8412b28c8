import { FOLDING_CASES } from './folding.cases.ts';
import { KEYWORDS_CASES } from './keywords.cases.ts';
import { SCRIPTS_CASES } from './scripts.cases.ts';
import type { TermCase } from './term-case.ts';
import { WORDS_CASES } from './words.cases.ts';

/** The tables of rules 1 to 15. */
export const TERM_CASES: readonly TermCase[] = [...FOLDING_CASES, ...WORDS_CASES, ...KEYWORDS_CASES, ...SCRIPTS_CASES];
