import { z } from 'zod';
import { storableString } from '../given-name.ts';

/** The conditions that most monitors do not have. The same shapes in requests and in answers. */

export const searchedText = z.enum(['title', 'body', 'post_title']);

/** A term with conditions. */
export const monitorTerm = z
  .strictObject({
    text: storableString.meta({
      minLength: 1,
      maxLength: 100,
      description:
        'Searched like a keyword: a word, a phrase, or Chinese, Japanese or Korean text. One emoji, or two or more characters.',
    }),
    prefix: z
      .boolean()
      .optional()
      .describe('true: also matches longer words that begin so. `text` is then one word with at least 3 letters.'),
    case_sensitive: z.boolean().optional().describe('true: letters are compared as written.'),
    in: z.array(searchedText).optional().describe('Where it counts, instead of `match_in`.'),
  })
  .meta({ id: 'MonitorTerm' });

export type MonitorTerm = z.infer<typeof monitorTerm>;

const terms = z.array(monitorTerm).meta({ maxItems: 20 });
/** A term without conditions. */
export const plainTerm = storableString.meta({ minLength: 1, maxLength: 100 });
const groups = z.array(z.array(z.union([plainTerm, monitorTerm])).meta({ minItems: 1, maxItems: 20 }));
const require = groups.meta({ maxItems: 5 });
const texts = z.array(searchedText);
const names = z.array(storableString).meta({ maxItems: 50 });
const languages = z.array(storableString.meta({ pattern: '^([a-z]{2}|und)$' })).meta({ maxItems: 50 });

/** What the members of a rule mean, in requests as in answers. */
export const MEANING = {
  keywords:
    'An item matches when it contains one of these. They match whole words in any case; several words form a phrase; Chinese, Japanese and Korean terms match anywhere. Each has two or more characters or is one emoji. At least one, unless there are `terms`.',
  exclude: 'An item that contains one of these does not match.',
  subreddits: 'Communities to watch, with or without `r/`; empty: the whole forum.',
  posts: 'Whether posts are matched, by title and text.',
  comments: 'Whether comments are matched, by text.',
  nsfw: 'Whether NSFW items can match.',
  terms:
    'Keywords with conditions: an item matches when it contains one of these or of `keywords`. At most 20 together with them.',
  require: 'Groups of terms: an item must contain one of each group as well. Strings are terms without conditions.',
  match_in:
    'Where keywords, `terms` and `require` count: in the `title` of posts, in the `body` of posts and comments, in the `post_title` of comments. By default `title` and `body`. `exclude` is not limited by it.',
  exclude_subreddits: 'Communities that are not watched, with or without `r/`.',
  authors: 'Only posts and comments of these accounts, with or without `u/`, in any case.',
  exclude_authors: 'No posts and comments of these accounts, with or without `u/`, in any case.',
  languages:
    'Only posts and comments in these languages: ISO 639-1 codes, and `und` for those whose language is not decided because they are short or mixed.',
  thread_once:
    'At most one match a thread and day (UTC). Further ones are stored as suppressed, with `suppressed_reason`. Matches from before it was switched on do not count: on that day a thread may have one more.',
};

/** Members of a monitor in answers: absent when they are not used. */
export const refinementFields = {
  terms: terms.optional().describe(MEANING.terms),
  require: require.optional().describe(MEANING.require),
  match_in: texts.optional().describe(MEANING.match_in),
  exclude_subreddits: names.optional().describe(MEANING.exclude_subreddits),
  authors: names.optional().describe(MEANING.authors),
  exclude_authors: names.optional().describe(MEANING.exclude_authors),
  languages: languages.optional().describe(MEANING.languages),
  thread_once: z.boolean().optional().describe(MEANING.thread_once),
};

/** Members of bodies. null, an empty list and false remove a condition; at creation they mean the same as absence. */
export const refinementChanges = {
  terms: terms.nullable().optional().describe(MEANING.terms),
  require: require.nullable().optional().describe(MEANING.require),
  match_in: texts.nullable().optional().describe(MEANING.match_in),
  exclude_subreddits: names.nullable().optional().describe(MEANING.exclude_subreddits),
  authors: names.nullable().optional().describe(MEANING.authors),
  exclude_authors: names.nullable().optional().describe(MEANING.exclude_authors),
  languages: languages.nullable().optional().describe(MEANING.languages),
  thread_once: z.boolean().nullable().optional().describe(MEANING.thread_once),
};

export type RefinementFields = z.infer<z.ZodObject<typeof refinementFields>>;
export type RefinementChanges = z.infer<z.ZodObject<typeof refinementChanges>>;
