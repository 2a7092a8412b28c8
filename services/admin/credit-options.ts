import { isPack } from '../../shared/domain/accounts/plans.ts';
import type { Pack } from '../../shared/domain/accounts/plans.ts';
import { AdminError } from './admin-error.ts';

const MOST_CREDITS = 1_000_000_000;
const LONGEST_REFERENCE = 200;

/** @throws AdminError unless it is an integer from `least` to a billion */
export function creditsOption(credits: string | undefined, least: number): number {
  if (credits === undefined) throw new AdminError('--credits is required.');
  const amount = /^\d{1,10}$/.test(credits) ? Number(credits) : Number.NaN;
  if (!(amount >= least && amount <= MOST_CREDITS)) {
    throw new AdminError(`--credits: must be an integer from ${least} to ${MOST_CREDITS}.`);
  }
  return amount;
}

/** @param choices what there is, for the message @throws AdminError unless it is a pack's price */
export function packPrice(pack: string | undefined, choices: string): Exclude<Pack, 0> {
  const price = /^[1-9]\d?$/.test(pack ?? '') ? Number(pack) : Number.NaN;
  if (!isPack(price) || price === 0) throw new AdminError(`--pack: must be ${choices}.`);
  return price;
}

/** What makes repeating a grant harmless. @throws AdminError */
export function referenceOption(reference: string | undefined): string {
  if (reference === undefined) throw new AdminError('--reference is required.');
  if (reference.trim() === '' || reference.length > LONGEST_REFERENCE || /\p{Cc}/u.test(reference)) {
    throw new AdminError(
      `--reference: must have 1 to ${LONGEST_REFERENCE} characters, none of them a control character.`,
    );
  }
  return reference;
}
