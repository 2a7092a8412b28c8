import type { ItemCase } from './item-case.ts';
import { SEARCHED_FIELDS_CASES } from './rule-16-searched-fields.cases.ts';
import { EXCLUDES_CASES } from './rule-17-excludes.cases.ts';
import { MATCHED_TERMS_CASES } from './rule-18-matched-terms.cases.ts';
import { FILTERS_CASES } from './rule-19-filters.cases.ts';
import { DELETED_TEXTS_CASES } from './rule-20-deleted-texts.cases.ts';
import { PREFIX_CASES } from './rule-22-prefixes.cases.ts';
import { CASE_CASES } from './rule-23-case.cases.ts';
import { SEARCHED_TEXTS_CASES } from './rule-24-searched-texts.cases.ts';
import { REQUIRED_CASES } from './rule-25-required.cases.ts';
import { NAME_CASES } from './rule-26-names.cases.ts';
import { LANGUAGE_CASES } from './rule-27-languages.cases.ts';

/** The tables of rules 16 to 20 and 22 to 27, in the order of the rules. */
export const ITEM_CASES: readonly ItemCase[] = [
  ...SEARCHED_FIELDS_CASES,
  ...EXCLUDES_CASES,
  ...MATCHED_TERMS_CASES,
  ...FILTERS_CASES,
  ...DELETED_TEXTS_CASES,
  ...PREFIX_CASES,
  ...CASE_CASES,
  ...SEARCHED_TEXTS_CASES,
  ...REQUIRED_CASES,
  ...NAME_CASES,
  ...LANGUAGE_CASES,
];
