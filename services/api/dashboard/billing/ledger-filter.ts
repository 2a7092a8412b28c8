/** What the ledger can be narrowed to: the value of the form, its name, and the kinds of entries. */
export const LEDGER_FILTERS = [
  { value: '', name: 'Everything', kinds: undefined },
  {
    value: 'packs',
    name: 'Packs, grants, refunds and corrections',
    kinds: ['pack', 'grant', 'refund', 'correction'],
  },
  { value: 'monitors', name: 'Monitors', kinds: ['monitor_create', 'monitor_resume', 'monitor_renewal', 'backfill'] },
  { value: 'reading', name: 'Reading and SQL', kinds: ['read', 'sql', 'reversal'] },
] as const;

/** The filter of a form; an unknown value shows everything. */
export function ledgerFilter(value: string): (typeof LEDGER_FILTERS)[number] {
  return LEDGER_FILTERS.find((filter) => filter.value === value) ?? LEDGER_FILTERS[0];
}
