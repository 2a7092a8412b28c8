import type { ItemCase } from './item-case.ts';
import { SEARCHED_FIELDS_CASES } from './rule-16-searched-fields.cases.ts';
import { EXCLUDES_CASES } from './rule-17-excludes.cases.ts';
import { MATCHED_TERMS_CASES } from './rule-18-matched-terms.cases.ts';
import { FILTERS_CASES } from './rule-19-filters.cases.ts';
import { DELETED_TEXTS_CASES } from './rule-20-deleted-texts.cases.ts';

/** The tables of rules 16 to 20, in the order of the rules. */
export const ITEM_CASES: readonly ItemCase[] = [
  ...SEARCHED_FIELDS_CASES,
  ...EXCLUDES_CASES,
  ...MATCHED_TERMS_CASES,
  ...FILTERS_CASES,
  ...DELETED_TEXTS_CASES,
];
