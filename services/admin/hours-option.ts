import { AdminError } from './admin-error.ts';
import type { OptionValues } from './command.ts';

/**
 * The option `--hours`.
 *
 * @throws AdminError unless it is an integer from 1 to `most`
 */
export function hoursOption({ hours }: OptionValues, { most, byDefault }: { most: number; byDefault: number }): number {
  if (hours === undefined) return byDefault;
  const count = /^[1-9]\d{0,4}$/.test(hours) ? Number(hours) : Number.NaN;
  if (!(count <= most)) throw new AdminError(`--hours: must be an integer from 1 to ${most}.`);
  return count;
}
