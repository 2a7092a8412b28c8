/**
 * The services' child process: all services, or those named as arguments. Its parent (main.ts) hands it the addresses of
 * the engines in the environment.
 */
import { ConfigError, loadConfig } from '../shared/runtime/config.ts';
import type { Config } from '../shared/runtime/config.ts';
import { Lifecycle } from '../shared/runtime/lifecycle.ts';
import { createLogger } from '../shared/runtime/logger.ts';
import { chooseServices, runServices } from './run-services.ts';

function configuration(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const config = configuration();
const logger = createLogger(config.logLevel);
const lifecycle = new Lifecycle(logger);

// A broken process is a dead process: everything it held in memory can be had again from Kafka and Postgres.
const fatal = (error: unknown) => {
  logger.fatal({ err: error }, 'unexpected error, the process ends');
  process.exit(1);
};
process.on('uncaughtException', fatal);
process.on('unhandledRejection', fatal);

const stopping = new AbortController();
const stop = () => {
  if (stopping.signal.aborted) return;
  stopping.abort();
  void lifecycle.stop().then((clean) => process.exit(clean ? 0 : 1));
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
// The parent died without a word: stop as if it had asked.
process.on('disconnect', stop);

try {
  const services = chooseServices(process.argv.slice(2));
  const { signal } = stopping;
  const ownsDataDir = process.send !== undefined;
  const endpoints = await runServices({ config, services, lifecycle, logger, fatal, ownsDataDir, signal });
  if (!stopping.signal.aborted) process.send?.({ type: 'ready', ...endpoints });
} catch (error) {
  if (!stopping.signal.aborted) fatal(error);
}
