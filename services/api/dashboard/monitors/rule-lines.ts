import { parseRuleQuery } from '../../../../shared/domain/rule-query/parse-rule-query.ts';
import { printRuleQuery } from '../../../../shared/domain/rule-query/print-rule-query.ts';
import type { RuleTerm } from '../../../../shared/matching/rule.ts';
import { MAX_GROUPS } from '../../../../shared/matching/validate-refinements.ts';
import { MAX_TERMS } from '../../../../shared/matching/validate-rule.ts';
import type { Fault } from '../../http/api-error.ts';

/** A group of terms, one of which an item needs. */
export type TermGroup = readonly (string | RuleTerm)[];

/**
 * In forms, terms with conditions are written as in the textual form of rules, one a line: `title:hiring*`, `=Go`. A
 * line of a group has several with OR between them. Such a line is read as the second part of a query, `x AND (…)`,
 * because there the order of its terms is kept.
 */
const RULE = { keywords: ['x'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
const BEGIN = 'x AND ';

export function printGroupLine(group: TermGroup): string {
  const text = printRuleQuery({ ...RULE, require: [group], threadOnce: false }).slice(BEGIN.length);
  return group.length > 1 ? text.slice(1, -1) : text;
}

/** What a line means, or what is wrong with it. */
export function readGroupLine(line: string): { group: TermGroup } | { message: string } {
  const parsed = parseRuleQuery(`${BEGIN}(${line})`);
  if ('refusal' in parsed) return { message: parsed.refusal.message };
  const { require = [], ...rest } = parsed.settings;
  const [group, ...more] = require;
  const others = printRuleQuery({ ...rest, require: [] });
  if (group === undefined || more.length > 0 || others !== 'x') {
    return { message: 'a line has only terms, with OR between them' };
  }
  return { group };
}

/**
 * Reads lines of groups. Messages name the line by its text, as empty lines are not counted. More lines than a rule may
 * have are not read: a form has room for 50,000.
 */
export function readGroupLines(
  field: string,
  lines: readonly string[],
  most = { count: MAX_GROUPS, what: 'groups' },
): { groups: TermGroup[]; faults: Fault[] } {
  if (lines.length > most.count) {
    return { groups: [], faults: [{ field, message: `must have at most ${most.count} ${most.what}` }] };
  }
  const faults: Fault[] = [];
  const groups = lines.flatMap((line, number) => {
    const read = readGroupLine(line);
    if ('group' in read) return [read.group];
    faults.push({ field: `${field}[${number}]`, message: read.message });
    return [];
  });
  return { groups, faults };
}

/** Reads lines of single terms. */
export function readTermLines(field: string, lines: readonly string[]): { terms: RuleTerm[]; faults: Fault[] } {
  const { groups, faults } = readGroupLines(field, lines, { count: MAX_TERMS, what: 'terms' });
  const terms = groups.flatMap((group, number): RuleTerm[] => {
    const [term, ...more] = group;
    if (more.length > 0) faults.push({ field: `${field}[${number}]`, message: 'each term has a line of its own' });
    return term === undefined ? [] : [typeof term === 'string' ? { text: term } : term];
  });
  return { terms, faults };
}
