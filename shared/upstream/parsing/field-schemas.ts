import { z } from 'zod';

/** A number that JSON carries exactly. Numbers beyond are an unknown shape. */
const exact = z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

/** Absent and null are 0. Fractions are truncated. */
export const integer = exact.nullish().transform((value) => Math.trunc(value ?? 0));

/** Like `integer`, and never below 0. */
export const count = exact.nullish().transform((value) => Math.max(0, Math.trunc(value ?? 0)));

/** Absent and null are false. */
export const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

/** Absent and null are empty. */
export const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

/** The year 10000, from which ISO dates need more than four digits. */
const END_OF_TIME_SECONDS = 253_402_300_800;

/** Seconds since 1970: a float in the API, sometimes a string in dumps. */
export const seconds = z
  .union([z.number(), z.string().regex(/^\d{1,12}(\.\d+)?$/)])
  .transform(Number)
  .pipe(z.number().min(0).lt(END_OF_TIME_SECONDS));
