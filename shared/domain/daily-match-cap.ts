const FREE_CAP = 200;
const PACK_CAP = 1_000;

/**
 * How many matches a monitor records per UTC day before the rest is suppressed.
 *
 * @param pack price in dollars of the account's largest pack; 0: none
 */
export function dailyMatchCap(pack: number): number {
  return pack > 0 ? PACK_CAP : FREE_CAP;
}
