import { z } from 'zod';
import { refinementFields } from './monitor-refinements.ts';

/** Body of POST /v1/monitors/parse. The service checks the text, because it reports where a fault is. */
export const parseQueryBody = z.strictObject({
  query: z.string().meta({
    maxLength: 50_000,
    description: 'A rule in its textual form, such as `rust OR "memory safety" sub:-rustjerk author:-automod`.',
  }),
});

const names = z.array(z.string()).optional();
const flag = z.boolean().optional();

/** What a rule is in POST /v1/monitors: fields with their usual value are absent. */
export const ruleSettings = z.strictObject({
  keywords: names,
  exclude: names,
  subreddits: names,
  posts: flag,
  comments: flag,
  nsfw: flag,
  ...refinementFields,
});

export type RuleSettingsResource = z.infer<typeof ruleSettings>;

/** Answer of POST /v1/monitors/parse. */
export const parsedQuery = z.strictObject({ settings: ruleSettings });

export type ParsedQuery = z.infer<typeof parsedQuery>;
