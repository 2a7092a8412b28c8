import type { RuleSettingsResource } from '../../../../schemas/api/monitors/monitor-query.ts';
import type { RuleSettings } from '../../../../shared/domain/rule-query/rule-settings.ts';
import { refinementsResource } from '../../../../shared/domain/refinements-resource.ts';

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
