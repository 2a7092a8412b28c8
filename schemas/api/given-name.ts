import { z } from 'zod';

const MAX_NAME_LENGTH = 200;

/**
 * A text that the database can store unchanged: it cannot store NUL, and would return half of a surrogate pair as
 * another character.
 */
export const storableString = z
  .string()
  .refine((text) => !text.includes('\0') && text.isWellFormed(), 'holds a NUL or half of a surrogate pair');

/** A name that a user gives to something. */
export const givenName = storableString
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters')
  // The same rule in syntax that every JSON Schema validator supports.
  .meta({ pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]*$` });
