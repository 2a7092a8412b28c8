import { pino } from 'pino';
import { createLogger } from '../../shared/runtime/logger.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/**
 * A logger for tests: silent, or as loud as TEST_LOG_LEVEL says. Under `npm test` everything goes to a file (TEST_LOG_FILE), in which the
 * runner looks for secrets when all tests are through.
 */
export function silentLogger(): Logger {
  const { TEST_LOG_FILE, TEST_LOG_LEVEL } = process.env;
  if (TEST_LOG_LEVEL !== undefined || TEST_LOG_FILE === undefined) return createLogger(TEST_LOG_LEVEL ?? 'silent');
  return createLogger('debug', pino.destination({ dest: TEST_LOG_FILE, append: true, sync: true }));
}
