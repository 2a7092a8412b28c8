import { z } from 'zod';
import { MEANING, refinementFields } from './monitor-refinements.ts';

/** Body of POST /v1/monitors/parse. The service checks the text, because it reports where a fault is. */
export const parseQueryBody = z
  .strictObject({
    query: z.string().meta({
      maxLength: 50_000,
      description: 'A rule in its textual form, such as `rust OR "memory safety" sub:-rustjerk author:-automod`.',
    }),
  })
  .meta({ id: 'ParseQuery' });

const names = z.array(z.string()).optional();
const flag = z.boolean().optional();

/** What a rule is in POST /v1/monitors: fields with their usual value are absent. */
export const ruleSettings = z
  .strictObject({
    keywords: names.describe(MEANING.keywords),
    exclude: names.describe(MEANING.exclude),
    subreddits: names.describe(MEANING.subreddits),
    posts: flag.describe(MEANING.posts),
    comments: flag.describe(MEANING.comments),
    nsfw: flag.describe(MEANING.nsfw),
    ...refinementFields,
  })
  .meta({ id: 'RuleSettings' });

export type RuleSettingsResource = z.infer<typeof ruleSettings>;

/** Answer of POST /v1/monitors/parse. */
export const parsedQuery = z.strictObject({ settings: ruleSettings }).meta({ id: 'ParsedQuery' });

export type ParsedQuery = z.infer<typeof parsedQuery>;
