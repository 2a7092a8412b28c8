import type { Monitor } from '../../../../schemas/api/monitor.ts';
import type { MonitorTerm } from '../../../../schemas/api/monitors/monitor-refinements.ts';
import type { RuleSettings } from '../../../../shared/domain/rule-query/rule-settings.ts';
import type { RuleTerm } from '../../../../shared/matching/rule.ts';

/** The fields of a monitor that decide what it records. */
export type MonitorRuleFields = Omit<
  Monitor,
  'id' | 'name' | 'status' | `webhook_${string}` | `${string}_at` | 'keywords'
> & { keywords: string[] };

/** The rule of a monitor as the API returns it, in the form that matching and its textual form use. */
export function ruleOfMonitor(monitor: MonitorRuleFields): RuleSettings {
  const { keywords, exclude, subreddits, nsfw, terms, require, languages, authors } = monitor;
  return {
    keywords,
    exclude,
    subreddits,
    posts: monitor.include_posts,
    comments: monitor.include_comments,
    nsfw,
    ...(terms && { terms: terms.map(ruleTerm) }),
    ...(require && { require: require.map((group) => group.map((t) => (typeof t === 'string' ? t : ruleTerm(t)))) }),
    ...(monitor.match_in && { matchIn: monitor.match_in }),
    ...(monitor.exclude_subreddits && { excludeSubreddits: monitor.exclude_subreddits }),
    ...(authors && { authors }),
    ...(monitor.exclude_authors && { excludeAuthors: monitor.exclude_authors }),
    ...(languages && { languages }),
    threadOnce: monitor.thread_once === true,
  };
}

function ruleTerm({ text, prefix, case_sensitive: caseSensitive, in: texts }: MonitorTerm): RuleTerm {
  return {
    text,
    ...(prefix === true && { prefix }),
    ...(caseSensitive === true && { caseSensitive }),
    ...(texts && { in: texts }),
  };
}
