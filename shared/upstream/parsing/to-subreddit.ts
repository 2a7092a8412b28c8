import { z } from 'zod';
import type { Subreddit } from '../../../schemas/api/forum-resources.ts';
import { count, flag, optional, readable, seconds, text } from './field-schemas.ts';
import { absolute, isoTime } from './to-post.ts';
import type { MappingOptions } from './to-post.ts';

/** A community's `data`. Private ones contain little more than their name. */
export const subredditSchema = z.object({
  display_name: z.string(),
  title: text,
  public_description: text,
  description: text,
  url: text,
  icon_img: text,
  community_icon: text,
  subreddit_type: text,
  subscribers: count,
  created_utc: seconds.catch(0),
  over18: flag,
});
export type UpstreamSubreddit = z.infer<typeof subredditSchema>;

/** The response of /about/rules, which is not a Listing. Not every community has one. */
export const rulesSchema = z
  .object({
    rules: readable(
      z.object({
        kind: text,
        short_name: text,
        description: text,
        violation_reason: text,
        priority: optional(z.number().int()),
        created_utc: optional(seconds),
      }),
    ),
  })
  .catch({ rules: [] });
export type UpstreamRules = z.infer<typeof rulesSchema>;

export function toSubreddit(
  data: UpstreamSubreddit,
  { siteUrl }: MappingOptions,
  rules: UpstreamRules = { rules: [] },
): Subreddit {
  return {
    name: data.display_name,
    title: data.title,
    public_description: data.public_description,
    description: data.description,
    url: absolute(data.url === '' ? `/r/${data.display_name}/` : data.url, siteUrl),
    icon: data.community_icon === '' ? data.icon_img : data.community_icon,
    type: data.subreddit_type,
    subscribers: data.subscribers,
    created_at: isoTime(data.created_utc),
    over_18: data.over18,
    rules: rules.rules.map((rule, index) => ({
      kind: rule.kind,
      short_name: rule.short_name,
      description: rule.description,
      violation_reason: rule.violation_reason,
      priority: rule.priority ?? index,
      created_at: isoTime(rule.created_utc ?? data.created_utc),
    })),
  };
}
