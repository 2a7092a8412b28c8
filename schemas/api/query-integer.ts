import { z } from 'zod';

/** An integer of a query, which is text. `meta` says for the API's description what its schema does not show. */
export function queryInteger(min: number, max: number) {
  const fault = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,4}$/, fault)
    .transform(Number)
    .pipe(z.number().min(min, fault).max(max, fault))
    .meta({ type: 'integer', minimum: min, maximum: max });
}
