import { isPackPrice } from '../../shared/domain/accounts/plans.ts';
import type { Pack } from '../../shared/domain/accounts/plans.ts';
import { AdminError } from './admin-error.ts';

const MAX_CREDITS = 1_000_000_000;
const MAX_REFERENCE_CHARACTERS = 200;

/** @throws AdminError unless `credits` is an integer from `min` to a billion */
export function creditsOption(credits: string | undefined, min: number): number {
  if (credits === undefined) throw new AdminError('--credits is required.');
  const amount = /^\d{1,10}$/.test(credits) ? Number(credits) : Number.NaN;
  if (!(amount >= min && amount <= MAX_CREDITS)) {
    throw new AdminError(`--credits: must be an integer from ${min} to ${MAX_CREDITS}.`);
  }
  return amount;
}

/**
 * @param choices the packs to choose from, for the message
 * @throws AdminError unless `pack` is a pack's price
 */
export function packPrice(pack: string | undefined, choices: string): Exclude<Pack, 0> {
  const price = /^[1-9]\d?$/.test(pack ?? '') ? Number(pack) : Number.NaN;
  if (!isPackPrice(price) || price === 0) throw new AdminError(`--pack: must be ${choices}.`);
  return price;
}

/**
 * The reference is the idempotency key of a grant: repeating the command gives nothing twice.
 *
 * @throws AdminError
 */
export function referenceOption(reference: string | undefined): string {
  if (reference === undefined) throw new AdminError('--reference is required.');
  if (reference.trim() === '' || reference.length > MAX_REFERENCE_CHARACTERS || /\p{Cc}/u.test(reference)) {
    throw new AdminError(
      `--reference: must have 1 to ${MAX_REFERENCE_CHARACTERS} characters, none of them a control character.`,
    );
  }
  return reference;
}
