/** Price of a monitor for 24 hours: at creation, at resume, and at each renewal. */
export const MONITOR_PERIOD_CREDITS = 10;

/** Credits of a new free account. */
export const SIGN_UP_CREDITS = 200;

/**
 * Reference of the ledger row that pays a monitor's period. A monitor uses each period number once, so the ledger's
 * unique references make a second charge of a period impossible.
 */
export function periodReference(monitorId: string, periodNo: number): string {
  return `${monitorId}:${periodNo}`;
}
