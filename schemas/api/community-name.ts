import { z } from 'zod';

/** A community in a query, with or without `r/`. Parsed: without. */
export const communityName = z
  .string()
  .trim()
  .transform((name) => name.replace(/^\/?r\//i, '').replace(/\/$/, ''))
  .pipe(z.string().regex(/^(?:[A-Za-z0-9]\w{1,20}|u_[\w-]{3,20})$/, 'must be the name of a community'))
  .meta({
    pattern: '^(?:/?r/)?(?:[A-Za-z0-9]\\w{1,20}|u_[\\w-]{3,20})$',
    description: 'A community, with or without `r/`.',
  });
