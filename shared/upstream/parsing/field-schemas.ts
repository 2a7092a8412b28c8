/**
 * What each field of the forum's things is worth, for every reader of them. A field is either needed, and then a thing
 * without it cannot be read, or its schema is one of those below that never fail: `false`, `null`, another type and
 * half of an object all count as absent, and something stands in.
 *
 * | thing     | needed                                                                                        |
 * | --------- | --------------------------------------------------------------------------------------------- |
 * | post      | `id`, `created_utc`, `title`, and `subreddit` unless it is an advertisement                     |
 * | comment   | `id`, `created_utc`, `body`, `parent_id`, the post's id; outside of a thread `subreddit`        |
 * | community | `display_name`                                                                                |
 * | account   | `name`                                                                                        |
 *
 * | field                                              | what stands in                                        |
 * | -------------------------------------------------- | ----------------------------------------------------- |
 * | numbers, flags, texts                              | 0, false, an empty text                               |
 * | `selftext` that is absent, null or false           | an empty text; any other shape cannot be read         |
 * | `author`                                           | `[deleted]`                                           |
 * | `over_18` of a post or comment                     | true: showing it to somebody who wants none is worse  |
 * | `permalink`                                        | the same address by the thing's id                    |
 * | `created_utc` of a community; of its rules         | 1970; the community's                                 |
 * | `created_utc` of an account                        | null                                                  |
 * | media, poll, original of a crosspost, flair, rules | none; of several, those that can be read              |
 */
import { z } from 'zod';

/** A number that JSON carries exactly. */
const exact = z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

/** A whole number; fractions are truncated. 0 stands in. */
export const integer = exact.transform(Math.trunc).catch(0);

/** Like `integer`, and never below 0. */
export const count = integer.transform((value) => Math.max(0, value));

/** False stands in. */
export const flag = z.boolean().catch(false);

/** An empty text stands in. */
export const text = z.string().catch('');

/** A text that matters: none where there is no text, but a shape that is not known is not taken for an empty one. */
export const content = z
  .union([z.string(), z.null(), z.literal(false)])
  .optional()
  .transform((value) => value || '');

/** Undefined stands in for what the schema does not accept. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.optional().catch(undefined);
}

/** The elements that can be read; none where it is no array. */
export function readable<S extends z.ZodType>(element: S) {
  return z
    .array(z.unknown())
    .catch([])
    .transform((values) =>
      values.flatMap((value): z.output<S>[] => {
        const parsed = element.safeParse(value);
        return parsed.success ? [parsed.data] : [];
      }),
    );
}

/** The year 10000, from which ISO dates need more than four digits. */
const END_OF_TIME_SECONDS = 253_402_300_800;

/** Seconds since 1970, needed: a float in the API, sometimes a string in dumps. */
export const seconds = z
  .union([z.number(), z.string().regex(/^\d{1,12}(\.\d+)?$/)])
  .transform(Number)
  .pipe(z.number().min(0).lt(END_OF_TIME_SECONDS));
