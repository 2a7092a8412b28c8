/**
 * Postgres channel on which the API tells the matchers that a monitor's state or rule changed. Payload: the monitor id.
 */
export const MONITOR_CHANGED_CHANNEL = 'monitor_changed';
