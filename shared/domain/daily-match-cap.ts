const FREE_CAP = 200;
const PACK_CAP = 1_000;

/**
 * How many matches of a monitor are delivered per UTC day; later ones are suppressed.
 *
 * @param pack price in dollars of the account's largest pack; 0 when none
 */
export function dailyMatchCap(pack: number): number {
  return pack > 0 ? PACK_CAP : FREE_CAP;
}
