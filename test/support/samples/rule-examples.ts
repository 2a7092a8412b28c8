import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An example of `docs/guide/rule-examples.md`. */
export interface RuleExample {
  /** In its textual form. */
  query: string;
  /** As fields of POST /v1/monitors. */
  fields: object;
}

const PAGE = join(import.meta.dirname, '../../../docs/guide/rule-examples.md');
const EXAMPLE = /^- `(?<query>[^`]+)`(?: \([\d,]+\))?:\s+`(?<fields>\{[^`]+\})`$/gm;

/** The examples of the page about good rules, in its order. */
export function ruleExamples(): RuleExample[] {
  return [...readFileSync(PAGE, 'utf8').matchAll(EXAMPLE)].map(({ groups }) => ({
    query: groups!.query!,
    fields: JSON.parse(groups!.fields!) as object,
  }));
}
