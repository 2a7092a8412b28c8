import { z } from 'zod';

const MAX_NAME_LENGTH = 200;

/** A database cannot hold NUL, and half of a surrogate pair would come back as another character. */
export const storableString = z
  .string()
  .refine((text) => !text.includes('\0') && text.isWellFormed(), 'holds a NUL or half of a surrogate pair');

/** What a user calls something. */
export const givenName = storableString
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters')
  // The same in words that every reader of JSON Schema understands.
  .meta({ pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]*$` });
