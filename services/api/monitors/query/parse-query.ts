import { parseRuleQuery } from '../../../../shared/domain/rule-query/parse-rule-query.ts';
import type { QueryRefusal } from '../../../../shared/domain/rule-query/parse-rule-query.ts';
import type { RuleSettings } from '../../../../shared/domain/rule-query/rule-settings.ts';
import { checkNewRule } from '../check-rule.ts';
import { ruleSettingsResource } from './rule-settings-resource.ts';

/**
 * Reads a rule in its textual form, with every check that the same fields get in POST /v1/monitors. The settings are as
 * they are stored. Of several faults it reports the first in the text. Pure.
 */
export function parseQuery(query: string): { settings: RuleSettings } | { refusal: QueryRefusal } {
  const parsed = parseRuleQuery(query);
  if ('refusal' in parsed) return parsed;
  const { posts, comments, nsfw, threadOnce } = parsed.settings;
  const { rule, faults } = checkNewRule(ruleSettingsResource(parsed.settings));
  const [refusal] = faults
    .map(({ field, message }) => ({ position: parsed.positionOf(field), message: `${subjectOf(field)} ${message}` }))
    .sort((a, b) => a.position - b.position);
  if (refusal !== undefined) return { refusal };
  const { refinements, ...lists } = rule;
  return { settings: { ...lists, posts, comments, nsfw, ...refinements, threadOnce } };
}

/** What the message of a fault is about. The caret points at a single term or name. */
function subjectOf(field: string): string {
  if (/^require\[\d+\]$/.test(field)) return 'this group';
  return field.includes('[') ? 'this' : `"${field}"`;
}
