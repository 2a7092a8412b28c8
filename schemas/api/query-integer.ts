import { z } from 'zod';

/** An integer of a query, which is text. `meta` says for the API's description what its schema does not show. */
export function queryInteger(least: number, most: number) {
  const fault = `must be an integer from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,4}$/, fault)
    .transform(Number)
    .pipe(z.number().min(least, fault).max(most, fault))
    .meta({ type: 'integer', minimum: least, maximum: most });
}
