/** What a monitor costs for 24 hours: at create, at resume, and at each renewal. */
export const MONITOR_PERIOD_CREDITS = 10;

/** What a new free account gets. */
export const SIGN_UP_CREDITS = 200;

/**
 * Reference of the ledger row that pays a monitor's period. A period number is used once in a monitor's life, so the
 * ledger's unique references make charging one twice impossible.
 */
export function periodReference(monitorId: string, periodNo: number): string {
  return `${monitorId}:${periodNo}`;
}
