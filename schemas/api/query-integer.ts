import { z } from 'zod';

/**
 * An integer in a query string. `meta` gives the OpenAPI document the type and bounds, which the text schema does not
 * show.
 */
export function queryInteger(min: number, max: number) {
  const fault = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,4}$/, fault)
    .transform(Number)
    .pipe(z.number().min(min, fault).max(max, fault))
    .meta({ type: 'integer', minimum: min, maximum: max });
}
