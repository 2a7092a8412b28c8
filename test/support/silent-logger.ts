import { createLogger } from '../../shared/runtime/logger.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/** A logger for tests: silent, or as loud as TEST_LOG_LEVEL says. */
export function silentLogger(): Logger {
  return createLogger(process.env.TEST_LOG_LEVEL ?? 'silent');
}
