import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A row of a table of `docs/guide/rule-examples.md`. */
export interface RuleExample {
  /** In its textual form. */
  query: string;
  /** As fields of POST /v1/monitors. */
  fields: object;
  /** How many items of the corpus it finds; undefined if the page does not say it. */
  found: number | undefined;
}

const PAGE = join(import.meta.dirname, '../../../docs/guide/rule-examples.md');
const ROW = /^\| `(?<query>[^`]+)` +\| `(?<fields>\{[^`]+\})` +\| (?<found>[\d,]+|–) +\|$/gm;

/** The examples of the page about good rules, in its order. */
export function ruleExamples(): RuleExample[] {
  return [...readFileSync(PAGE, 'utf8').matchAll(ROW)].map(({ groups }) => ({
    query: groups!.query!,
    fields: JSON.parse(groups!.fields!) as object,
    found: groups!.found === '–' ? undefined : Number(groups!.found!.replaceAll(',', '')),
  }));
}
