import type { RuleSettingsResource } from '../../../schemas/api/monitors.ts';
import { refinementsResource } from '../../../shared/monitors/rules/refinements-resource.ts';
import { describeRefusal, parseRuleQuery } from '../../../shared/monitors/rules/parse-rule-query.ts';
import type { QueryRefusal } from '../../../shared/monitors/rules/parse-rule-query.ts';
import type { RuleSettings } from '../../../shared/monitors/rules/print-rule-query.ts';
import { ApiError } from '../http/api-error.ts';
import type { RouteResponse, RouteRequest } from '../http/route.ts';
import { checkNewRule } from './check-rule.ts';

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

/** Answers POST /v1/monitors/parse. */
export async function parse({ body: { query } }: RouteRequest<unknown, { query: string }>): Promise<RouteResponse> {
  const parsed = parseQuery(query);
  if ('refusal' in parsed) {
    const { refusal } = parsed;
    throw new ApiError('invalid_request', `query: ${describeRefusal(query, refusal)}`, { position: refusal.position });
  }
  return Promise.resolve({ status: 200, body: { settings: ruleSettingsResource(parsed.settings) } });
}

/** The fields with which POST /v1/monitors makes this rule; those with their usual value are absent. */
export function ruleSettingsResource(settings: RuleSettings): RuleSettingsResource {
  const { keywords, exclude, subreddits, posts, comments, nsfw, threadOnce } = settings;
  return {
    ...(keywords.length > 0 && { keywords: [...keywords] }),
    ...(exclude.length > 0 && { exclude: [...exclude] }),
    ...(subreddits.length > 0 && { subreddits: [...subreddits] }),
    ...(!posts && { posts }),
    ...(!comments && { comments }),
    ...(nsfw && { nsfw }),
    ...refinementsResource(settings, threadOnce),
  };
}
