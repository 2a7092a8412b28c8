import { AdminError } from './admin-error.ts';
import type { OptionValues } from './command.ts';

/** @throws AdminError unless --limit is an integer from 1 to `max` */
export function limitOption({ limit }: OptionValues, byDefault: number, max: number): number {
  if (limit === undefined) return byDefault;
  const count = /^[1-9]\d{0,9}$/.test(limit) ? Number(limit) : Number.NaN;
  if (!(count <= max)) throw new AdminError(`--limit: must be an integer from 1 to ${max}.`);
  return count;
}
