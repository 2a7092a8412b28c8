import { MONITOR_PERIOD_CREDITS } from './credits.ts';

/**
 * Days for which a balance lasts if the running monitors go on and reading costs as much each day as it did in the last
 * one; undefined when nothing is spent.
 */
export function daysLeft(of: { balance: number; activeMonitors: number; readingCredits: number }): number | undefined {
  const perDay = of.activeMonitors * MONITOR_PERIOD_CREDITS + of.readingCredits;
  return perDay === 0 ? undefined : of.balance / perDay;
}
