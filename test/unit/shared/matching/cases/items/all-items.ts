import { CONDITIONS_CASES } from './conditions.cases.ts';
import type { ItemCase } from './item-case.ts';
import { ITEMS_CASES } from './items.cases.ts';

/** The tables of rules 16 to 20 and 22 to 27. */
export const ITEM_CASES: readonly ItemCase[] = [...ITEMS_CASES, ...CONDITIONS_CASES];
